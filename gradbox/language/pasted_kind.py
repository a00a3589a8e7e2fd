"""Classifies pasted text that is not a program: an error message, a line that installs packages, a diff, a question.

It is used for text that Python does not accept as a program, and for the few texts that it does accept although nobody
means a program: `为什么梯度是None` is a name.
"""

import ast
import re
from difflib import get_close_matches
from typing import Any

from gradbox.language.names import KNOWN_IMPORTS
from gradbox.language.policy import ALLOWED_MODULES
from gradbox.language.program_lines import ProgramLine, QuoteScan
from gradbox.language.tracebacks import PastedError, find_error
from gradbox.wire.program import Refusal

INSTALL_LINE_PATTERN = re.compile(
    r"^\s*(?:[%!$]\s*)?(?:sudo\s+)?(?:(?:python[\d.]*|py) -m )?(?:uv (?=pip|add))?"
    r"(?P<tool>pip[\d.]*|conda|mamba|poetry|uv|apt|apt-get|brew) +"
    r"(?:install|add|update|upgrade|uninstall|create|env create)"
    r"\b(?P<rest>.*)$"
)
"""A line that installs packages, as in the documentation of packages."""

SHELL_LINE_PATTERN = re.compile(
    r"^\s*(?:[%!$]\s*)?(?:(?:python[\d.]*|torchrun|accelerate launch|bash|sh) +(?:-\S+ +)*\S+\.(?:py|sh)\b.*"
    r"|nvidia-smi\b.*"
    r"|(?:conda|source) +activate\b.*|git clone +\S+.*|export +\w+=\S*|cd +[\w./~-]+|mkdir +\S+|wget +\S+.*)$"
)
"""A line for a terminal."""

_REQUIREMENT_PATTERN = re.compile(
    r"^\s*[A-Za-z][\w.-]*(?:\[[\w,-]+\])?\s*(?:(?:==|>=|<=|~=|!=|>|<)\s*[\w.*+-]+,?\s*)+(?:\s*#.*)?$"
)
_DIFF_HEAD_PATTERN = re.compile(r"^(?:diff --git |Index: |--- \S|\+\+\+ \S|@@ .*@@)")
_STRING_PATTERN = re.compile(r"""(?<![^\s=(\[{,+:rbfuRBFU])(?:[rbfuRBFU]{0,2})("[^"\n]*"|'[^'\n]*')""")
_STATEMENT_START_PATTERN = re.compile(
    r"^\s*(?:import \w|from [\w.]+ import|def \w|class \w|async |@\w|elif |else\s*:|try\s*:|except\b.*:|finally\s*:"
    r"|yield |raise \w|assert |del \w|global |nonlocal |lambda |pass$|break$|continue$"
    r"|(?:for|while|if|with) .*:\s*$|for \w+(?:, ?\w+)* in |print\b|(?:while|if|with|return) [\w.]+ ?[<>=!(:.\[])"
)
_ASSIGNMENT_PATTERN = re.compile(
    r"^\s*[\w.]+(?:\[[^\]]*\])?(?:\s*,\s*[\w.]+)*\s*(?:[-+*/@%&|^]|//|\*\*|<<|>>)?=(?!=)\s*\S"
)
_CALL_PATTERN = re.compile(r"^\s*[A-Za-z_][\w.]*(?:\[[^\]]*\])?\(")
_EMPTY_CALL_PATTERN = re.compile(r"(?<![\w.])\.?[A-Za-z_][\w.]*\(\)")
_CLOSING_PATTERN = re.compile(r"^\s*[)\]}]+[\s,:)\]}]*$")
_WORD_PATTERN = re.compile(r"^[\"“‘(]?[A-Za-z][A-Za-z'’-]*[\"”’)]?[.,;:!?]*$")
_CHINESE_PATTERN = re.compile(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]")
_CHINESE_BESIDE_NAME_PATTERN = re.compile(
    r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af] +(?!(?:and|as|else|for|if|import|in|is|not|or)\b)\w"
)
"""A Chinese word and a name with a blank between, which no program has."""

_PRINTED_PATTERN = re.compile(
    r"^\s*(?:[+|][-=+|]{3,}|\|.*\|\s*$|([-=_*])\1{4,}(?:$|\s.*)|\d+ +\| .* \| |\|? NVIDIA-SMI"  # tables and rules
    r"|\(\w+\): \w+"  # the modules of a module
    r"|\[?(?:epoch|step|iter|iteration|batch|train|valid|val|test|eval)\w*\]?[ :\[(]*(?:\d+(?:\s*(?:/|of)\s*\d+)?)?"
    r"\]?[\s:,|\])-]*"
    r"(?:\d+%|$|(?:\w+[ :=]+){1,3}[-\d.]+)"  # the log of a training
    r"|(?-i:[A-Z])[\w()/.-]* [\w ()/.-]*: (?:v?\d|True\b|False\b|None\b|N/A))"  # `Python version: 3.11`
    r"|^\S+ {2,}[^\s=(]+ {2,}[^\s=(]+[^=(]*$",
    re.IGNORECASE,
)
"""A line that a program or a terminal printed."""

_LANGUAGES = {
    "R": re.compile(r"^\s*(?:library\(\w+\)|[\w.]+ <- \S)", re.MULTILINE),
    "C++": re.compile(r"^\s*(?:#include\s*[<\"]|using namespace \w+;|(?:int|void) main\(.*\{)", re.MULTILINE),
    "JavaScript": re.compile(
        r"^\s*(?:(?:const|let|var) [\w{}, ]+ = .*|(?:export )?(?:async )?function \w+\(.*\{\s*)$", re.MULTILINE
    ),
    "Java": re.compile(r"^\s*(?:public |private )(?:static )?(?:final )?(?:class|void|int|double) \w+", re.MULTILINE),
    "Julia": re.compile(r"^\s*using (?:Flux|Zygote|Lux|CUDA)\b", re.MULTILINE),
    "Lua": re.compile(r"^\s*(?:local \w+ = |require ['\"(])", re.MULTILINE),
    "MATLAB": re.compile(r"^\s*(?:clc|clear all|close all);?\s*$", re.MULTILINE),
}
"""Signs of another language in a text that is no Python."""

_ADDRESS_PATTERN = re.compile(r"\s*https?://\S+\s*")

_OPERATOR_WORDS_LOWER = frozenset(
    [
        "and",
        "as",
        "if",
        "else",
        "for",
        "from",
        "import",
        "in",
        "is",
        "lambda",
        "not",
        "or",
        "async",
        "await",
        "with",
        "none",
        "true",
        "false",
    ]
)
_STATEMENT_WORDS = ("import", "from", "def", "class", "for", "while", "if", "elif", "else", "with", "return", "raise",
                    "assert", "del", "print", "lambda", "yield", "pass", "break", "continue", "global")  # fmt: skip
_SIGNS_PATTERN = re.compile(r"[=()\[\]{}<>*/\\+@|&^%$#~`]")
_ASKING_PATTERN = re.compile(
    r"^\s*(?:why|how|what|when|where|which|who|is|are|does|do|did|can|could|should|would|will|has|have|am|i|i'm|my|the|"
    r"hi|hello|hey|help|please|thanks|getting|got|trying|need|any)\b|[?？]\s*$",
    re.IGNORECASE,
)

MAX_FACT_CHARACTERS = 400
"""Characters of one fact of a refusal."""

_MAX_LINES_LOOKED_AT = 2000


def refusal_of_text_without_program(text: str, lines: list[ProgramLine], tree: ast.Module | None) -> Refusal | None:
    """Why a text is not run because its reader may not have meant a program; None for a program, with or without a
    mistake.

    text: as pasted, with `\\n` for line breaks
    lines, tree: what it was made into; tree is None if Python does not accept it
    """
    pasted = text.split("\n")
    if tree is not None and not tree.body:
        return _install_refusal(pasted, tree)  # nothing but what a notebook takes for commands
    if tree is not None and not (
        is_requirements_file(pasted) or _is_named_error(tree) or has_only_undefined_names(tree, text)
    ):
        return None
    for find in (_install_refusal, _error_refusal, _diff_refusal, _language_refusal, _output_refusal):
        refusal = find(pasted, tree)
        if refusal is not None:
            return refusal
    if tree is not None or not has_code_lines(lines) or _ADDRESS_PATTERN.fullmatch(text):
        return Refusal(line=1, key="question", message=MESSAGES["question"], args={"text": _shortened_text(text)})
    return None


MESSAGES = {
    "traceback": "this is an error message, not a program: paste the program that raised it, or run "
    "`gradbox explain` where it lies",
    "install": "this line belongs into a terminal: no package can be installed here",
    "shell": "these lines belong into a terminal: a program here is Python",
    "diff": "these are changes of a program, not the program: paste the program as it is after them",
    "language": "this is another language: a program here is Python, with PyTorch",
    "output": "this was printed by a program or a terminal: paste the program itself",
    "question": "this is a question or a note, not a program: paste the program that it is about",
}
"""Why such a text is not run; the page has the same messages in its languages."""

NOT_A_PROGRAM_KEYS = frozenset(MESSAGES)


def _refusal(key: str, line: int = 1, **facts: Any) -> Refusal:
    return Refusal(
        line=line, key=key, message=MESSAGES[key], args={k: v for k, v in facts.items() if v not in (None, "")}
    )


def _shortened_text(text: str) -> str:
    return " ".join(text.split())[:MAX_FACT_CHARACTERS]


def _install_refusal(pasted: list[str], _: ast.Module | None) -> Refusal | None:
    lines = [line for line in pasted if line.strip() and not line.lstrip().startswith("#")]
    matches = [INSTALL_LINE_PATTERN.match(line) for line in lines]
    if is_requirements_file(pasted):
        return _packages_not_installed_refusal(_package_names(" ".join(line.split("#")[0] for line in lines)))
    if not lines or not all(
        match or SHELL_LINE_PATTERN.match(line) for match, line in zip(matches, lines, strict=True)
    ):
        return None
    installed = " ".join(match["rest"] for match in matches if match is not None)
    if not any(matches):
        return _refusal("shell", text=_shortened_text(lines[0]))
    return _packages_not_installed_refusal(_package_names(installed))


def _language_refusal(pasted: list[str], tree: ast.Module | None) -> Refusal | None:
    text = "\n".join(pasted)
    names = [name for name, signs in _LANGUAGES.items() if tree is None and signs.search(text)]
    return _refusal("language", language=names[0]) if names else None


def _output_refusal(pasted: list[str], tree: ast.Module | None) -> Refusal | None:
    lines = [
        line for line in pasted if line.strip(" #") and not line.startswith("# ") and not SHELL_LINE_PATTERN.match(line)
    ]
    printed = sum(bool(_PRINTED_PATTERN.match(line)) for line in lines)
    if (
        tree is not None
        or not printed
        or printed * 2 < len(lines)
        or any(_STATEMENT_START_PATTERN.match(line) for line in lines)
    ):
        return None
    return _refusal("output", text=_shortened_text(lines[0]))


_IMPORT_NAMES = {"pytorch": "torch", "scikit-learn": "sklearn", "opencv-python": "cv2", "pillow": "PIL"}
"""Packages that are imported under another name."""


def _packages_not_installed_refusal(packages: list[str]) -> Refusal:
    """Why packages are not installed, and which of them are available already."""
    here = [name for name in packages if _IMPORT_NAMES.get(name.lower(), name.lower()) in ALLOWED_MODULES]
    absent = [name for name in packages if name not in here]
    return _refusal("install", packages=" ".join(packages), here=" ".join(here), absent=" ".join(absent))


def _package_names(text: str) -> list[str]:
    """The packages at the end of an install line, without options, versions and addresses."""
    out: list[str] = []
    words = iter(text.split())
    for word in words:
        if word in ("-c", "--channel", "-i", "--index-url", "--extra-index-url", "-f", "--find-links", "-r", "-n"):
            next(words, None)
        elif not word.startswith("-") and "/" not in word:
            name = re.match(r"[\"']?([A-Za-z][\w.-]*)", word)
            if name is not None and name[1] not in (*out, "python"):
                out.append(name[1])
    return out[:20]


def is_requirements_file(pasted: list[str]) -> bool:
    """Whether the lines are a requirements file: packages with versions."""
    lines = [line for line in pasted if line.strip() and not line.lstrip().startswith("#")]
    known = {"torch", "numpy", "torchvision", "torchaudio", "transformers", "pandas", "scikit-learn", "scipy", "tqdm"}
    wanted = [line for line in lines if _REQUIREMENT_PATTERN.match(line)]
    names = {name for line in lines for name in _package_names(re.split(r"[=<>~!]", line)[0])}
    return bool(wanted and names & known) and all(
        _REQUIREMENT_PATTERN.match(line) or re.fullmatch(r"\s*[A-Za-z][\w.-]*\s*", line) for line in lines
    )


def _error_refusal(pasted: list[str], tree: ast.Module | None) -> Refusal | None:
    error = find_error(pasted[:_MAX_LINES_LOOKED_AT])
    if error is None:
        return None
    outside = [ProgramLine(line, None) for k, line in enumerate(pasted) if not error.first <= k <= error.last]
    if tree is None and has_code_lines(outside, enough=2):
        return None  # a program with a mistake, whose error was pasted with it
    return error_refusal(error)


def error_refusal(error: PastedError) -> Refusal:
    """Why an error message is not run, with its content."""
    frame = error.innermost_own_frame
    return _refusal(
        "traceback",
        error.last + 1,
        type=error.type,
        error=_shortened_text(error.message),
        file=frame and frame.file,
        at=frame and frame.line,
        code=frame and frame.code[:MAX_FACT_CHARACTERS],
        frames=len(error.frames) or None,
        own=sum(not frame.is_library for frame in error.frames) or None,
    )


def _diff_refusal(pasted: list[str], _: ast.Module | None) -> Refusal | None:
    return _refusal("diff") if is_diff(pasted) else None


def is_diff(pasted: list[str]) -> bool:
    """Whether the lines are a diff in the format of `diff -u` or git."""
    heads = sum(bool(_DIFF_HEAD_PATTERN.match(line)) for line in pasted)
    hunks = any(line.startswith("@@ ") for line in pasted)
    signed = sum(line[:1] in ("+", "-") for line in pasted)
    return signed > 0 and (hunks or heads >= 2)


def _is_named_error(tree: ast.Module) -> bool:
    """Whether a tree that Python sees as an annotation is an error message, like `RuntimeError: CUDA`."""
    return any(
        isinstance(node, ast.AnnAssign)
        and node.value is None
        and isinstance(node.target, ast.Name)
        and node.target.id.endswith(("Error", "Exception", "Warning"))
        for node in tree.body
    ) and all(isinstance(node, ast.AnnAssign | ast.Expr) for node in tree.body)


def has_only_undefined_names(tree: ast.Module, text: str) -> bool:
    """Whether a program consists of undefined names, like `clone or detach`, or of Chinese words."""
    if not tree.body or not all(isinstance(node, ast.Expr) for node in tree.body) or "#" in text:
        return False
    nodes = [part for statement in tree.body for part in ast.walk(statement)]
    words_only = (
        ast.Expr,
        ast.Name,
        ast.Attribute,
        ast.BoolOp,
        ast.UnaryOp,
        ast.Compare,
        ast.IfExp,
        ast.boolop,
        ast.Not,
    )
    allowed = (*words_only, ast.Is, ast.IsNot, ast.In, ast.NotIn, ast.Load, ast.Constant)
    if not all(isinstance(node, allowed) for node in nodes):
        return False
    names = [node.id for node in nodes if isinstance(node, ast.Name)]
    if any(name in KNOWN_IMPORTS for name in names):
        return False
    return len(names) > 0 and (len(text.split()) > 1 or bool(_CHINESE_PATTERN.search(text)))


def has_code_lines(lines: list[ProgramLine], enough: int = 1) -> bool:
    """Whether a text that Python does not accept is a program with a mistake.

    Lines that look like statements are compared with lines that look like sentences: a program has `enough` of the
    former and not many more of the latter.
    """
    code = prose = 0
    scan = QuoteScan(lines)
    for k, line in enumerate(lines[:_MAX_LINES_LOOKED_AT]):
        if line.is_blank or line.text.lstrip().startswith(("```", "~~~")):
            continue
        verdict = classify_line(line.text)
        inside = len(scan.opened_before[k]) == 3 and verdict == "prose"
        if verdict == "code":
            code += 1
        elif verdict == "prose" and not inside:
            prose += 1
    if code >= enough and code * 2 >= prose:
        return True
    return not prose and enough == 1 and any(not line.is_blank for line in lines)


def classify_line(text: str) -> str:
    """Whether a line looks like `code` or `prose`, or is `unclear`. Printed text counts as prose."""
    if _PRINTED_PATTERN.match(text):
        return "prose"
    bare = _STRING_PATTERN.sub(" 0 ", text)
    comment = bare.find("#")
    if comment >= 0 and (comment == 0 or bare[comment - 1].isspace()):
        bare = bare[:comment]
    if not bare.strip():
        return "code" if text.lstrip().startswith("#") and not text.startswith("##") else "unclear"
    run = longest_run_of_words(bare)
    if can_only_be_sentence(text) or (run >= 3 and not _STATEMENT_START_PATTERN.match(bare)):
        return "prose"
    if any(pattern.match(bare) for pattern in (_STATEMENT_START_PATTERN, _ASSIGNMENT_PATTERN, _CLOSING_PATTERN)):
        return "code"
    words = [word for word in bare.split() if word.strip(".,;:!?")]
    if run and len(words) > 1 and not _SIGNS_PATTERN.search(_EMPTY_CALL_PATTERN.sub("", bare)):
        begins = words[0].lower()
        is_statement = begins in _STATEMENT_WORDS and run <= 1 and begins not in ("if", "for", "with", "from")
        misspelt = not is_statement and bool(get_close_matches(begins, _STATEMENT_WORDS, cutoff=0.8))
        return "code" if is_statement or (misspelt and begins not in _ENGLISH) else "prose"
    if _CALL_PATTERN.match(bare) or (text[:1] in " \t" and _SIGNS_PATTERN.search(bare)):
        return "code"
    if _ASKING_PATTERN.search(bare):
        return "prose"
    return "code" if _SIGNS_PATTERN.search(bare) else "unclear"


_ENGLISH = frozenset(
    [
        "form",
        "forms",
        "class",
        "while",
        "with",
        "if",
        "for",
        "from",
        "raised",
        "returned",
        "returns",
        "asserts",
        "prints",
        "printed",
        "is",
    ]
)
_MIN_WORDS_OF_SENTENCE = 4


def can_only_be_sentence(text: str) -> bool:
    """Whether a line can only be a sentence: many words in a row, or Chinese outside of strings."""
    bare = _STRING_PATTERN.sub(" 0 ", text)
    comment = bare.find("#")
    if comment >= 0 and (comment == 0 or bare[comment - 1].isspace()):
        bare = bare[:comment]
    chinese = len(_CHINESE_PATTERN.findall(bare))
    if chinese >= 3 and (chinese * 3 >= len(bare.replace(" ", "")) or _CHINESE_BESIDE_NAME_PATTERN.search(bare)):
        return True
    return longest_run_of_words(bare) >= _MIN_WORDS_OF_SENTENCE


def longest_run_of_words(text: str) -> int:
    """The most consecutive words that can't be adjacent names of a program."""
    best = run = 0
    for token in text.split():
        if _WORD_PATTERN.match(token) and token.strip("\"'“”‘’().,;:!?").lower() not in _OPERATOR_WORDS_LOWER:
            run += 1
            best = max(best, run)
            if token[-1] in ".?!:":
                run = 0
        else:
            run = 0
    return best
