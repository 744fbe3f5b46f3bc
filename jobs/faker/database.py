"""faker.database."""

from __future__ import annotations

from jobs.faker.source import one_of, signs

collation = one_of("""
    ascii_bin, ascii_general_ci, cp1250_bin, cp1250_general_ci, utf8_bin, utf8_general_ci, utf8_unicode_ci
""")
column = one_of("""
    avatar, category, comment, createdAt, email, group, id, name, password, phone, status, title, token, updatedAt
""")
engine = one_of("ARCHIVE, BLACKHOLE, CSV, InnoDB, MEMORY, MyISAM")
type_ = one_of("""
    bigint, binary, bit, blob, boolean, date, datetime, decimal, double, enum, float, geometry, int, mediumint, point, real
    serial, set, smallint, text, time, timestamp, tinyint, varchar
""")
mongodb_object_id = signs("0123456789abcdef", 24, "Twenty-four hex digits.")
