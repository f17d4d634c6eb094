import pytest

import reckon


def test_events():
    found = reckon.events("faults")
    assert {"page-faults", "minor-faults"} <= {event.name for event in found}
    (event,) = [event for event in found if event.name == "page-faults"]
    assert event.able == "yes" and event.group == "software" and event.type == 1 and event.config[0] == 2
    assert "page-faults" in str(found) and "<table>" in found._repr_html_()
    assert reckon.events("nonesuchevent") == [] or all(event.cause for event in reckon.events("nonesuchevent"))
    with pytest.raises(TypeError):
        reckon.events(3)
    with pytest.raises(reckon.Error):
        reckon.events(pmu="no_such_pmu")


def test_what_can_be_listed_can_be_counted():
    for event in reckon.events():
        if event.able == "yes" and event.group == "software" and not event.form:
            with reckon.count(event.name, keep=True):
                pass


def test_pmus_and_doctor():
    assert any(pmu.name == "software" and pmu.type == 1 for pmu in reckon.pmus())
    checkup = reckon.doctor()
    assert checkup["count"].name == "count" and checkup[0] is not None
    for check in checkup:
        assert check.verdict in ("yes", "partly", "no") and bool(check) == (check.verdict == "yes")
        assert check or check.what
    with pytest.raises(KeyError):
        checkup["nothing"]


def test_pandas():
    pandas = pytest.importorskip("pandas")
    for table in (reckon.events("faults"), reckon.pmus(), reckon.doctor()):
        frame = table.to_pandas()
        assert isinstance(frame, pandas.DataFrame) and len(frame) == len(table)
