"""Turns almost-JSON text into a JSON value, in time linear in the text. `repair` is the whole interface."""

from jobs.repair.repairer import repair
from jobs.repair.result import MAX_DEPTH, Kind, NotRepairable, Repair, Repaired

__all__ = ["MAX_DEPTH", "Kind", "NotRepairable", "Repair", "Repaired", "repair"]
