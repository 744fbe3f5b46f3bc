"""What is kept, for how long, and what goes first."""

from workers.adapters.expiring_cache import ExpiringCache


def test_no_more_is_kept_than_fits_and_for_no_longer() -> None:
    """What was not asked for longest goes first; what is put again replaces what was there."""
    now = [100.0]
    cache: ExpiringCache[int, str] = ExpiringCache(300, lambda: now[0])

    def put(*keys: int, size: int = 100, lifetime_s: float = 60) -> None:
        for key in keys:
            cache.put(key, str(key), size=size, lifetime_s=lifetime_s)

    def kept(keys: range = range(10)) -> list[int]:
        return [key for key in keys if cache.get(key)]

    put(1, 2, 3)
    assert cache.get(1) == ("1", 0.0)
    put(3, size=90)
    put(4)
    assert kept() == [1, 3, 4]
    put(5, size=10_000)
    assert kept() == []
    put(6)
    put(6, lifetime_s=0)
    assert kept() == []
    put(*range(1_000))
    assert kept(range(1_000)) == [997, 998, 999]
    now[0] += 59
    assert cache.get(998) == ("998", 59.0)
    now[0] += 1
    assert kept(range(1_000)) == []
