"""The words and terms of text in scripts that are written without spaces, or with endings on every word.

A *word* is what stands between particles, endings and polite phrases, which say nothing about a tool. Its
*terms* overlap, because nothing tells where a word of several words has its seams: pairs of characters in
Chinese, Japanese and Korean, pairs of syllables in Thai, Lao, Khmer and Burmese, where two characters are
not even a syllable and would match everywhere.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from tool_search_processor.search import function_words

_KANA = re.compile("[\u3040-\u30ff]")
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]")
_SYLLABIC = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_BLOCKS = re.compile(
    "[\u0e00-\u0e7f]+|[\u0e80-\u0eff]+|[\u1780-\u17ff]+|[\u1000-\u109f]+"
    "|[^\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+"
)


def script_words(run: str) -> list[str]:
    """Return the words of a run of characters of these scripts, without what says nothing."""
    if _SYLLABIC.search(run):
        return [word for block in _BLOCKS.findall(run) for word in _words_of(block)]
    return list(_words_of(run))


def script_terms(word: str) -> Iterator[str]:
    """Yield the terms of a word of these scripts."""
    language = _language_of(word)
    units = language.syllable.findall(word) if language else word
    if len(units) == 1:
        yield word
    for start in range(len(units) - 1):
        yield units[start] + units[start + 1]


def _words_of(run: str) -> Iterator[str]:
    if language := _language_of(run):
        yield from _between(run, language.function_words())
    elif _KANA.search(run):
        yield from _japanese(run)
    elif _HANGUL.search(run):
        yield from filter(None, [_korean_stem(run)])
    else:
        yield from _between(run, _chinese())


def _table(words: str) -> list[str]:
    """Return the words of a table as `fold` writes them, longest first."""
    return sorted(unicodedata.normalize("NFKC", words).split(), key=len, reverse=True)


def _alternatives(words: str) -> str:
    """Return a pattern for any word of a table, with its anchors."""
    return "|".join(
        ("^" if word[0] == "^" else "") + re.escape(word.strip("^$")) + ("$" if word[-1] == "$" else "")
        for word in _table(words)
    )


def _between(run: str, function: re.Pattern[str]) -> Iterator[str]:
    """Yield what is between function words; the pattern's group `kept` matches what stays."""
    start = 0
    for match in function.finditer(run):
        if match["kept"]:
            continue
        if match.start() > start:
            yield run[start : match.start()]
        start = match.end()
    if start < len(run):
        yield run[start:]


# Chinese


@cache
def _chinese() -> re.Pattern[str]:
    kept, function = _alternatives(function_words.CHINESE_KEPT), _alternatives(function_words.CHINESE)
    return re.compile(f"(?P<kept>{kept})|(?:{function})")


# Japanese

_SEGMENTS = re.compile("(?P<hiragana>[\u3040-\u309f]+)|[^\u3040-\u309f]+")
_KATAKANA = re.compile("[\u30a0-\u30ff\u31f0-\u31ff]")
_PARTICLES = "はがをにでともへのやかねよわぞさ"
_OKURIGANA = 2
"""Up to this many syllables after a kanji are the ending of its word."""


@cache
def _japanese_polite() -> re.Pattern[str]:
    honorific = "(?<![仕多同模])様(?=[\u3040-\u309f]|$)"
    return re.compile(f"{_alternatives(function_words.JAPANESE_POLITE)}|{honorific}")


@cache
def _japanese_endings() -> re.Pattern[str]:
    kept, endings = _alternatives(function_words.JAPANESE_KEPT), _alternatives(function_words.JAPANESE)
    return re.compile(f"(?P<kept>{kept})|(?:{endings})")


def _japanese(run: str) -> Iterator[str]:
    for part in _japanese_polite().split(run):
        follows_meaning = False
        for segment in _SEGMENTS.finditer(part):
            if segment["hiragana"]:
                yield from _hiragana(segment[0], is_ending=follows_meaning)
            else:
                yield segment[0]
            follows_meaning = not segment["hiragana"] and not _KATAKANA.match(segment[0][-1])


def _hiragana(segment: str, *, is_ending: bool) -> Iterator[str]:
    """Yield the words in hiragana, without endings and particles."""
    for part in _between(segment, _japanese_endings()):
        begins = is_ending and segment.startswith(part)
        if len(part) <= (_OKURIGANA if begins else 1):
            continue
        word = part.rstrip(_PARTICLES) if len(part) > _OKURIGANA else part
        if len(word) > _OKURIGANA and word[0] in _PARTICLES:
            word = word[1:]
        if len(word) > 1 and not set(word) <= set(_PARTICLES):
            yield word


# Korean

_KOREAN_POLITE = re.compile(
    "(?:해|하여)?(?:주세요|주십시오|주실래요|주실|주시겠어요|주시겠습니까|줄래요?|주시면|주면|주시기|줘요?|주라|드려요|드립니다|드릴게요"
    "|줍니다|준다|줄)$"
    "|부탁(?:해요?|합니다|드려요|드립니다|드릴게요|드리겠습니다)?$"
    "|(?:싶어요?|싶습니다|싶은데요?|싶다|있나요|있어요?|있습니다|있습니까|있는지?|있을까요|없어요?|없습니다|없나요)$"
)
_KOREAN_ENDINGS = re.compile(
    "(?:하겠습니다|했습니다|됩니다|되었습니다|됐습니다|합니다|합니까|하세요|하십시오|하시겠어요|할까요|할게요|할래요|하고|하는|하기|하여|하자|하지"
    "|하려고|하려면|하도록|하면|하다|했어요?|해요|해서|해야|해라|한다|할|한|해|되는|되어|된|될|되다|인가요|습니다|습니까|입니다|입니까|이에요|예요"
    "|니다|세요|어요|아요|네요|나요|까요|을까|는데요?|은데요?|려고|으려고|도록|(?<=..)(?<![광창신중경참재보권출입최])고)$"
)
_KOREAN_PARTICLES = re.compile(
    "(?:에서는|으로는|에서|에게서|에게|한테|으로|까지|부터|이나|이랑|처럼|보다|마다|조차|께서|들을|들이|들의|들은|들"
    "|을|를|이|가|은|는|에|로|와|과|도|의|만|께|랑)$"
)
_KOREAN_NOUNS = re.compile(
    "(?:회의|휴가|추가|평가|지도|경로|결과|효과)$"
    "|^(?:[주동문강논합결정유예임창토협건]의|[국작주물증원단허첨참]가|[차나아놀길높깊넓]이|[성초경교학]과"
    "|[속온제정용습강밀빈태농각위경]도|[도회진항선통]로|[불미]만|[사자신노]랑)$"
)
"""Nouns that end like a particle: compounds of the common ones, and what has two syllables."""
_FIRST_SYLLABLE, _FINALS, _FINAL_B = 0xAC00, 28, 17


@cache
def _korean_whole() -> frozenset[str]:
    return frozenset(_table(function_words.KOREAN_WHOLE))


def _korean_stem(word: str) -> str:
    """Return a word without politeness, ending, particle and honorific; empty if nothing is left."""
    if word in _korean_whole():
        return ""
    bare = _KOREAN_POLITE.sub("", word)
    stem = _without_final_b(_KOREAN_ENDINGS.sub("", bare), bare)
    if stem == bare and len(bare) > 1 and not _KOREAN_NOUNS.search(bare):
        stem = _KOREAN_PARTICLES.sub("", bare)
    stem = stem.removesuffix("님") if len(stem) > 2 else stem
    return "" if stem in _korean_whole() else stem


def _without_final_b(stem: str, word: str) -> str:
    """Return the stem of a verb whose ending begins inside its last syllable: 보냅 of 보냅니다 gives 보내."""
    if stem and word == f"{stem}니다" and (ord(stem[-1]) - _FIRST_SYLLABLE) % _FINALS == _FINAL_B:
        return stem[:-1] + chr(ord(stem[-1]) - _FINAL_B)
    return stem


# Thai, Lao, Khmer, Burmese


class _Language(NamedTuple):
    """A language whose terms are pairs of syllables."""

    syllable: re.Pattern[str]
    function_words: Callable[[], re.Pattern[str]]
    """Returns a pattern for what says nothing; it is made when it is first needed."""


def _guessed_syllable(
    *, before: str, letters: str, signs: str, vowels: str, semivowels: str, codas: str
) -> re.Pattern[str]:
    """Return a pattern for a syllable of Thai or Lao, guessed from its spelling.

    Args:
        before: The vowels written before their consonant.
        letters: The consonants.
        signs: The marks above and below.
        vowels: The vowels written after.
        semivowels: The consonants that are vowels before a final consonant.
        codas: The consonants that can be final; they are if no vowel follows.
    """
    is_final = f"(?![{signs}{vowels}])"
    return re.compile(
        f"[{before}]?[{letters}][{signs}]*(?:[{vowels}]|[{semivowels}](?=[{codas}]{is_final}))?[{vowels}]?"
        f"(?:[{codas}]{is_final})?(?:[{letters}][\u0e34\u0e38]?[\u0e4c\u0ecc])*|."
    )


def _function_pattern(kept: str, function: str, *, behind: str, ahead: str) -> Callable[[], re.Pattern[str]]:
    """Return a function that makes a pattern of words, which begin and end between syllables."""

    @cache
    def pattern() -> re.Pattern[str]:
        inner = f"(?P<kept>{_alternatives(kept)})|(?:{_alternatives(function)}){ahead}"
        return re.compile(f"{behind}(?:{inner}|[\u0e46\u0ec6\u17d7\u0e2f])")

    return pattern


_THAI = _Language(
    _guessed_syllable(
        before="\u0e40-\u0e44",
        letters="\u0e01-\u0e2e",
        signs="\u0e31\u0e34-\u0e3a\u0e47-\u0e4e",
        vowels="\u0e30\u0e32\u0e45",
        semivowels="\u0e2d\u0e22\u0e27",
        codas="\u0e01-\u0e08\u0e0a\u0e0b\u0e0d-\u0e1b\u0e1e-\u0e2a\u0e2c",
    ),
    _function_pattern(
        function_words.THAI_KEPT,
        function_words.THAI,
        behind="(?<![\u0e40-\u0e44\u0e2b])",
        ahead="(?![\u0e30-\u0e3a\u0e47-\u0e4e])",
    ),
)
_LAO = _Language(
    _guessed_syllable(
        before="\u0ec0-\u0ec4",
        letters="\u0e81-\u0eae",
        signs="\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd",
        vowels="\u0eb0\u0eb2\u0ebd",
        semivowels="\u0ead\u0ea7\u0e8d",
        codas="\u0e81\u0e87\u0e8d\u0e94\u0e99\u0e9a\u0ea1\u0ea3\u0ea5\u0ea7",
    ),
    _function_pattern(
        function_words.LAO_KEPT,
        function_words.LAO,
        behind="(?<![\u0ec0-\u0ec4\u0eab])",
        ahead="(?![\u0eb0-\u0ebd\u0ec8-\u0ecd])",
    ),
)
_KHMER_SIGN = "\u17b4-\u17d3"
_KHMER = _Language(
    re.compile(
        f"[\u1780-\u17b3](?:\u17d2[\u1780-\u17b3])*[{_KHMER_SIGN}]*"
        f"(?:[\u1780-\u17a2](?:[\u17cb\u17cd]|(?![{_KHMER_SIGN}])))?|."
    ),
    _function_pattern(
        function_words.KHMER_KEPT,
        function_words.KHMER,
        behind="(?<!\u17d2)",
        ahead=f"(?![{_KHMER_SIGN}]|[\u1780-\u17a2][\u17cb\u17cd])",
    ),
)
_BURMESE = _Language(
    re.compile(
        "[\u1000-\u102a\u103f-\u104f](?:\u1039[\u1000-\u1021]|[\u102b-\u1038\u103a-\u103e]"
        "|[\u1000-\u1021]\u1037?[\u103a\u1039])*|."
    ),
    _function_pattern(
        function_words.BURMESE_KEPT,
        function_words.BURMESE,
        behind="(?<!\u1039)",
        ahead="(?![\u102b-\u103e]|[\u1000-\u1021]\u1037?[\u103a\u1039])",
    ),
)
_LANGUAGES = (("\u0e7f", _THAI), ("\u0eff", _LAO), ("\u109f", _BURMESE), ("\u17ff", _KHMER))
"""Each with the last character of its block, ascending."""


def _language_of(word: str) -> _Language | None:
    """Return the language of a word in one of these scripts, by its first character."""
    if not _SYLLABIC.match(word):
        return None
    return next(language for last, language in _LANGUAGES if word[0] <= last)
