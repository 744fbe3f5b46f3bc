"""Converts almost-JSON text to a JSON value, in time linear in the text. `repair` is the whole interface."""

from jobs.json_repair.repairer import repair
from jobs.json_repair.result import MAX_DEPTH, NotRepairable, Repair, Repaired, RepairKind
from jobs.json_repair.wording import worded

__all__ = ["MAX_DEPTH", "NotRepairable", "Repair", "RepairKind", "Repaired", "repair", "worded"]
