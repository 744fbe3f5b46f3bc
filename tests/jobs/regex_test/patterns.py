"""Patterns that are regular expressions, and some that are none."""

_ALWAYS = r"""
a (?:) a| | ^$ \b\B [] [^] [a-] [-a] a{2} a{2,}? a{2,2} (a)\1 \/ a{99999999999999999999} a{0,0} (((a))) a?? a+?
(?<a>.)\k<a> \k<a>(?<a>.) (?<a>.)|(?<a>.) (?:(?<a>.)|(?<a>.))\k<a> (?<\u0061>.) (?<\u{61}>.) (?<$_a1>.) (?<π>.) (?<𝒜>.)
(?<\ud835\udc9c>.) (?i:a) (?-i:a) (?ims:a) (?im-s:a) (?i-:a) (?<=a)b (?<!a)b (?=a)b (?!a)b \cA \x41 \u0041 \0 \d-\w
[\d\w] [\b] [\cA]
"""
ALWAYS = [
    "",
    "(?<a\u200d>.)",
    "(?<\u16ee>.)",
    "(?<\U0002ebf0>.)",
    *_ALWAYS.split(),
]
"""With any flags."""

_LITERAL = r"""
{ } ] a{ a{1 a{,1} a{1,x} x{} {a \8 \1 \01 \00 \k \k<a> \k< \a \_ \- \c \c1 \x \x4 \u \u{ \u{110000} \p{Foo} \p [\d-a]
[a-\d] [\c] [\1] [\k] [\8] [\B] [\a] (?=a)* (?!a)+ (?=a){2} \é \😀 [\_-a] [\W-z]
"""
LITERAL = _LITERAL.split()
"""Only without u: Annex B takes for literal what means nothing else."""

WITH_U = ["[😀-😁]", r"[\ud83d\ude00-\ud83d\ude01]"]
"""Only with u: without it a character beyond U+FFFF is two."""

NEVER: list[tuple[str, str, int]] = [
    ("(", "Unterminated group", 0),
    ("a(b(c)", "Unterminated group", 1),
    ("a)", "Unmatched ')'", 1),
    ("[a", "Unterminated character class", 0),
    ("a[\\]", "Unterminated character class", 1),
    ("[a-", "Unterminated character class", 0),
    ("*", "Nothing to repeat", 0),
    ("a**", "Nothing to repeat", 2),
    ("a|*", "Nothing to repeat", 2),
    ("(+)", "Nothing to repeat", 1),
    ("^*", "Nothing to repeat", 1),
    ("\\b?", "Nothing to repeat", 2),
    ("{2}", "Nothing to repeat", 0),
    ("a{2}{3}", "Nothing to repeat", 4),
    ("a???", "Nothing to repeat", 3),
    ("(?<=a)*", "Nothing to repeat", 6),
    ("(?<!a)+", "Nothing to repeat", 6),
    ("😀**", "Nothing to repeat", 3),
    ("a{2,1}", "Numbers out of order in {} quantifier", 1),
    ("\\", "\\ at end of pattern", 0),
    ("[z-a]", "Range out of order in character class", 1),
    ("[\\x62-a]", "Range out of order in character class", 1),
    ("(?", "Invalid group", 0),
    ("(?a)", "Invalid group", 0),
    ("(?P<n>a)", "Invalid group", 0),
    ("(?>a)", "Invalid group", 0),
    ("(?#c)", "Invalid group", 0),
    ("(?-:a)", "Invalid flag group", 0),
    ("(?i)a", "Invalid flag group", 0),
    ("(?ii:a)", "Repeated flag in flag group", 0),
    ("(?i-i:a)", "Repeated flag in flag group", 0),
    ("(?i--s:a)", "Multiple dashes in flag group", 0),
    ("(?g:a)", "Invalid group", 0),
    ("(?<>a)", "Invalid capture group name", 0),
    ("(?<1a>b)", "Invalid capture group name", 0),
    ("(?<a", "Invalid capture group name", 0),
    ("(?<a-b>c)", "Invalid capture group name", 0),
    ("(?<\\u{110000}>a)", "Invalid capture group name", 0),
    ("(?<a\\>b)", "Invalid capture group name", 0),
    ("(?<😀>b)", "Invalid capture group name", 0),
    ("(?<a>.)(?<a>.)", "Duplicate capture group name", 7),
    ("(?<a>(?<a>.))", "Duplicate capture group name", 5),
    ("(?<a>.)(?:(?<a>.)|b)", "Duplicate capture group name", 10),
    ("(?:(?<a>.)|b)(?<a>.)", "Duplicate capture group name", 13),
    ("(?:(?<a>.)|(?<b>.))(?<a>.)|(?<b>.)", "Duplicate capture group name", 19),
    ("(?<a>.)\\k<b>", "Invalid named capture referenced", 7),
    ("(?<a>.)\\k", "Invalid named reference", 7),
    ("\\k(?<a>.)", "Invalid named reference", 0),
    ("(?<a>.)[\\k]", "Invalid named reference", 8),
    ("(?<a>.)\\k<a", "Invalid named reference", 7),
]
"""Whatever the flags: what is wrong and where, without u."""

NOT_WITH_U: list[tuple[str, str, int]] = [
    ("a{", "Incomplete quantifier", 1),
    ("{a", "Lone quantifier brackets", 0),
    ("}", "Lone quantifier brackets", 0),
    ("a]", "Lone quantifier brackets", 1),
    ("\\1", "Invalid escape", 0),
    ("(a)\\1\\2", "Invalid escape", 5),
    ("\\00", "Invalid decimal escape", 0),
    ("[\\1]", "Invalid decimal escape", 1),
    ("\\a", "Invalid escape", 0),
    ("\\-", "Invalid escape", 0),
    ("\\x4", "Invalid escape", 0),
    ("\\u004", "Invalid Unicode escape", 0),
    ("\\u{}", "Invalid Unicode escape", 0),
    ("\\u{110000}", "Invalid Unicode escape", 0),
    ("\\c1", "Invalid Unicode escape", 0),
    ("😀\\p{Foo}", "Invalid property name", 2),
    ("[\\p{Foo}]", "Invalid property name", 1),
    ("[a-\\d]", "Invalid character class", 1),
    ("[\\d-a]", "Invalid character class", 1),
    ("(?=a)*", "Nothing to repeat", 5),
    ("\\k", "Invalid named reference", 0),
    ("\\k{n}", "Invalid named reference", 0),
    ("\\k<a>", "Invalid named capture referenced", 0),
]
"""With u: what is wrong and where."""
