"""The English words of dates: months, weekdays, units, numbers, and the days that go by a name."""

from __future__ import annotations

__all__ = [
    "CARDINALS",
    "CENTURY_WORDS",
    "DECADES",
    "MONTHS",
    "ORDINALS",
    "SEASONS",
    "STARTS",
    "TENS",
    "UNITS",
    "WEEKDAYS",
    "ZONES",
]

_MONTHS = (
    "january jan, february feb febr, march mar, april apr, may, june jun, july jul, august aug, september sep sept, "
    "october oct, november nov, december dec"
)
MONTHS = {name: number for number, names in enumerate(_MONTHS.split(", "), 1) for name in names.split()}

_WEEKDAYS = (
    "monday mon, tuesday tue tues, wednesday wed weds, thursday thu thur thurs, friday fri, saturday sat, sunday sun"
)
WEEKDAYS = {name: number for number, names in enumerate(_WEEKDAYS.split(", ")) for name in names.split()}

_UNITS = (
    "second seconds sec secs, minute minutes min mins, hour hours hr hrs, day days, week weeks wk wks, "
    "fortnight fortnights, weekend weekends, month months mo mos, quarter quarters, year years yr yrs, "
    "decade decades, century centuries, millennium millennia millenniums"
)
UNITS = {name: names.split()[0] for names in _UNITS.split(", ") for name in names.split()}

_SMALL = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
CARDINALS = {name: number for number, name in enumerate(_SMALL.split(), 1)}
TENS = {
    name: 10 * number
    for number, name in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)  # noqa: SIM905
}

_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth"
)
ORDINALS = {name: number for number, name in enumerate(_ORDINALS.split(), 1)} | {"twentieth": 20, "thirtieth": 30}

DECADES = {name.removesuffix("y") + "ies": number for name, number in TENS.items()}
CENTURY_WORDS = {"century": 100, "centuries": 100, "millennium": 1000}
SEASONS = {"spring", "summer", "autumn", "fall", "winter"}

# What no date begins with is passed over at once.
_STARTS = (
    "the a an in within for about now right just at currently today yesterday tomorrow tmrw last past previous this "
    "current next coming upcoming early mid late middle beginning start end earlier half couple year ad cy h q w y "
    "noon noughties first christmas xmas boxing new halloween valentine valentines april saint st international martin "
    "mlk president presidents memorial labor labour black cyber ash palm good easter pentecost whit thanksgiving "
    "mother mothers father fathers independence earth juneteenth"
)
STARTS = frozenset(_STARTS.split()).union(MONTHS, WEEKDAYS, UNITS, CARDINALS, TENS, ORDINALS, DECADES, SEASONS)

# Abbreviations that are one zone everywhere; EST, CST, IST and the like are several.
ZONES = {"utc": 0, "gmt": 0, "z": 0}
