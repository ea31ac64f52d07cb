"""Plain English in Markdown, comments and string literals: phrases that a reader has to decode are not used."""

import io
import re
import tokenize
import unittest
from pathlib import Path

from files_test import relative, text_of, tracked

# A phrase, and what to write instead.
BANNED = {
    r"beside": "next to, with, in addition to",
    r"nobody": "no client, no process, no reader",
    r"so (?:many|long)": "the number or the time",
    r"it is so": "name the condition",
    r"what it is of": "name the thing",
    r"(?:is|are|was|were) had": "exists, is available",
    r"told of": "gets, receives",
    r"others'": "of other clients",
    r"(?:comes|came) to": "name the result",
    r"ever did": "name the event",
    r"rehears\w*": "dry run",
    r"warm interpreters?": "zygote",
    r"second look": "confirmation run",
    r"handed in": "submission",
    r"what is ours": "fault",
    r"walls": "sandbox",
    r"(?:vouched|vouches) for": "checked, trusted, confirmed",
    r"owe[sd]?": "is due, waits for",
}
PATTERN = re.compile(
    "|".join(rf"(?<![\w.`/-])(?!(?<=[\"'])\w+[\"']){phrase}(?![\w-])" for phrase in BANNED), re.IGNORECASE
)
# A literal that is one word, such as "rehearsed", is a name of the wire or of a file.
NAME = re.compile(r"""["'][\w./-]*["']""")
# Labels of derived seeds: with another text, a replay would draw other inputs than the recorded run.
LABELS = {'"second look"'}

# Texts that hone does not choose.
FOREIGN = (
    "envs/kernel_refine/tasks/",  # the answers of models
    "tests/adversarial/attacks/",
    "tests/fuzz/corpus/",
    "tests/repo/words_test.py",
)
HASH_COMMENTS = {".yaml", ".cmake", ".bash", ".sh", ".txt", ""}
C_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
COMMENT_LINES = re.compile(r"\n\s*(?://+<?|#+)[ \t]*")
LITERAL_PARTS = re.compile(r'"[ \t]*\n\s*"')
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def keep_lines(text: str) -> str:
    return "\n" * text.count("\n")


def without_code(text: str, tokens: list[tuple[int, str]]) -> str:
    """The tokens, each at its line, without the code between them."""
    lines = [""] * (text.count("\n") + 2)
    for number, token in tokens:
        if NAME.fullmatch(token) or token in LABELS:
            continue
        for offset, line in enumerate(token.split("\n")):
            lines[number + offset] += line + " "
    return "\n".join(lines)


def words_of(suffix: str, text: str) -> str:
    """The prose of a file, at its line numbers."""
    if suffix == ".md":
        return FENCED.sub(lambda block: keep_lines(block.group()), text)
    if suffix in {".h", ".hpp", ".c", ".cpp", ".cu"}:
        found = C_TOKEN.finditer(text)
        return without_code(text, [(text.count("\n", 0, token.start()), token.group()) for token in found])
    if suffix == ".py":
        kinds = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        return without_code(text, [(token.start[0] - 1, token.string) for token in tokens if token.type in kinds])
    if suffix in HASH_COMMENTS:
        return "\n".join("#" + line.split("#", 1)[1] if "#" in line else "" for line in text.split("\n"))
    return ""


def phrases_of(suffix: str, text: str) -> list[tuple[int, str]]:
    """Banned phrases with their lines. A phrase may go on in the next line of a comment or literal."""
    words = words_of(suffix, text)
    joined = re.sub(r"\n\s*(?:(?://+<?|#+)[ \t]*|\")", lambda part: " " * len(part.group()), words)
    joined = re.sub(r'"(?= )', " ", joined).replace("\n", " ") if suffix != ".md" else words.replace("\n", " ")
    joined = re.sub(r" +", lambda gap: " " + "\0" * (len(gap.group()) - 1), joined)
    # The pattern expects one space between words. offsets[i]: the place of its character i in `joined`.
    offsets = [i for i, char in enumerate(joined) if char != "\0"]
    plain = joined.replace("\0", "")
    return [(words.count("\n", 0, offsets[match.start()]) + 1, match.group()) for match in PATTERN.finditer(plain)]


def phrases_in(path: Path) -> list[str]:
    try:
        found = phrases_of(path.suffix, text_of(path))
    except (tokenize.TokenError, IndentationError, SyntaxError):  # a submission that is broken on purpose
        return []
    return [f"{relative(path)}:{line}: {phrase!r}" for line, phrase in found]


class Words(unittest.TestCase):
    def test_banned_phrases_are_not_used(self) -> None:
        found = [phrase for path in tracked() if not relative(path).startswith(FOREIGN) for phrase in phrases_in(path)]
        self.assertEqual(found, [], "see BANNED for what to write instead")

    def test_phrases_are_found_where_people_read_them(self) -> None:
        for suffix, text in (
            (".md", "Text.\nThe file lies beside it.\n"),
            (".md", "Text.\nThe limit is so\nmany bytes.\n"),
            (".cpp", "int beside;\n/// It waits for so\n/// long as that.\n"),
            (".cpp", 'int x;\nfail("found so "\n     "many bytes");\n'),
            (".hpp", "\n/* nobody reads\n it */\n"),
            (".py", "\n# nobody reads it\n"),
            (".py", '\nprint(f"{x} is told of it")\n'),
            (".yaml", "key: value\nother: 1  # walls of the sandbox\n"),
            ("", "#!/usr/bin/env bash\n# a warm interpreter\n"),
        ):
            with self.subTest(text):
                self.assertEqual([line for line, _ in phrases_of(suffix, text)], [2])

    def test_code_and_other_words_are_not_flagged(self) -> None:
        for suffix, text in (
            (".cpp", "int beside = nobody(walls);  // besides\n"),
            (".md", "Text.\n```\nlies beside\n```\n`tests/beside.cpp`, besides\n"),
            (".py", "beside = nobody\n"),
            (".cpp", '// it is\nso_many("files");\nmap.set("rehearsed", 1);\n'),
        ):
            with self.subTest(text):
                self.assertEqual(phrases_of(suffix, text), [])


if __name__ == "__main__":
    unittest.main()
