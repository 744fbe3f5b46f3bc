"""Slips in the names of settings."""

import pytest

from shared.process.setting_names import read_settings


def test_a_slip_is_reported_with_the_nearest_name(capsys: pytest.CaptureFixture[str]) -> None:
    """Once, to the person who has called; other programs' variables, and those of our tools, are none of its business."""
    environment = {"COINSLOT_PROT": "4030", "COINSLOT_VAR": "var", "COINSLOT_SANDBOX_FILE": "x", "PORT": "1"}
    assert read_settings(environment, "coinslot").port == 4020
    assert capsys.readouterr().err == "coinslot: COINSLOT_PROT is no setting: did you mean COINSLOT_PORT?\n"


def test_in_a_log_it_is_a_line_of_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    """Also where every line is an object."""
    read_settings({"COINSLOT_QQQ": "1", "COINSLOT_LOG": "json"})
    assert '"message":"COINSLOT_QQQ is no setting"' in capsys.readouterr().err
