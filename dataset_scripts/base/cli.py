"""What every command line of the suite shares: one spelling of options, one form of errors, suggestions. No torch.

A room's `commands.py` makes its `app` here, and imports what is slow inside its functions. Every command then takes
`--some-option` and `--some_option` alike, proposes the nearest name for one that does not exist, and ends with one
line, `error: ...`, and status 2 for whatever the user can mend.
"""

import difflib
import inspect
import os
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Annotated, Any, TypeVar

import typer
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from typer.core import TyperGroup

Model = TypeVar("Model", bound=BaseModel)
_WANTED = {"int": "give a whole number", "float": "give a number", "bool": "give true or false"}
_METAVARS = {int: "N", float: "NUMBER", str: "TEXT"}


def suggest(name: str, choices: Iterable[str]) -> str:
    """The end of a message on an unknown name: "; did you mean 'x'?" for the nearest choice, or "" if none is near."""
    choices = list(choices)
    near = [choice for choice in choices if len(name) > 1 and choice.startswith(name)]
    near = near or difflib.get_close_matches(name, choices, n=1)
    return f"; did you mean {near[0] if near[0].startswith('-') else repr(near[0])}?" if near else ""


@contextmanager
def friendly_errors() -> Iterator[None]:
    """Ends the program with one line on stderr, without a traceback, where the user can mend what is wrong.

    Status 2, or 130 after an interruption. OPINION_TRACEBACK=1 shows where a ValueError or OSError was raised.
    """
    try:
        yield
    except BrokenPipeError:  # of `| head`: typer ends quietly
        raise
    except KeyboardInterrupt:
        print("\ninterrupted; the same command continues", file=sys.stderr)
        sys.exit(130)
    except (typer.TyperException, ValueError, OSError) as error:
        if os.environ.get("OPINION_TRACEBACK") and not isinstance(error, typer.TyperException):
            raise
        print(f"error: {_message(error)}", file=sys.stderr)
        sys.exit(2)


class Group(TyperGroup):
    """Commands whose errors are `friendly_errors`; without arguments it shows its help."""

    def make_context(self, *args: Any, **kwargs: Any) -> typer.Context:
        with friendly_errors():
            return super().make_context(*args, **kwargs)

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args if args or self.invoke_without_command else ["--help"])

    def invoke(self, ctx: typer.Context) -> Any:
        with friendly_errors():
            return super().invoke(ctx)

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, names = args[0].replace("_", "-"), self.list_commands(ctx)
        if not name.startswith("-") and not any(self.get_command(ctx, known) for known in (args[0], name)):
            hint = suggest(name, names) or f"; choose from {', '.join(names)}"
            ctx.fail(f"there is no {args[0]!r}{hint}")
        return super().resolve_command(ctx, args)


def app(help: str, group: type[Group] = Group) -> typer.Typer:
    """Makes an app, to be run or mounted with `add_typer`; `group` may make its commands when they are asked for."""
    settings = {
        "help_option_names": ["-h", "--help"],
        "max_content_width": 110,
        "token_normalize_func": lambda name: name.replace("_", "-"),
    }
    plain = {"add_completion": False, "rich_markup_mode": None, "pretty_exceptions_enable": False}
    # the callback makes it a group, also of one command
    return typer.Typer(cls=group, help=help, context_settings=settings, callback=lambda: None, **plain)


def split_commas(values: list[str] | None) -> list[str] | None:
    """Callback of an option that takes a list: repeated, by commas or both; each value once, in order."""
    words = [word.strip() for value in values or () for word in value.split(",")]
    return list(dict.fromkeys(word for word in words if word)) or None


def with_options(model: type[BaseModel], panel: str | None = None) -> Callable[[Callable], Callable]:
    """Gives a command an option for each field of a model, with its description and default, below the heading `panel`.

    Fields are numbers, texts, booleans, literals, or lists and tuples of such; each may be None. The command's
    parameter `options` gets what the user chose, as text (a list for a list, a bool for a flag), for `validate`.
    """

    def decorate(command: Callable) -> Callable:
        own = [each for each in inspect.signature(command, eval_str=True).parameters.values() if each.name != "options"]
        parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own]
        parameters += [_parameter(name, field, panel) for name, field in model.model_fields.items()]

        @wraps(command)
        def run(**values: Any) -> Any:
            options = {name: values.pop(name) for name in model.model_fields}
            return command(**values, options={name: value for name, value in options.items() if value is not None})

        run.__signature__ = inspect.Signature(parameters)
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run

    return decorate


def validate(model: type[Model], values: Mapping[str, Any]) -> Model:
    """Makes a model of values from a command line, a file or Python; a ValueError names option, value and choices.

    Of texts, "none" is None where a field may be that, and words by commas are a list where it wants one.
    """
    values = dict(values)
    for name, value in values.items():
        if isinstance(value, str) and name in model.model_fields:
            kind, nullable = _kind(model.model_fields[name])
            if nullable and value.lower() in ("none", "null"):
                values[name] = None
            elif typing.get_origin(kind) in (list, tuple):
                values[name] = split_commas([value]) or []
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise ValueError(_message(error, model.model_fields)) from None


def flag(name: str) -> str:
    """An option as it is shown: `max_length` -> `--max-length`."""
    return f"--{name.replace('_', '-')}"


def _kind(field: FieldInfo) -> tuple[Any, bool]:
    """The type of a field without None, and whether it may be None."""
    kind = field.annotation
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        kinds = typing.get_args(kind)
        return next(each for each in kinds if each is not type(None)), type(None) in kinds
    return kind, False


def _parameter(name: str, field: FieldInfo, panel: str | None) -> inspect.Parameter:
    """The option of a field, for a command's signature."""
    kind, _ = _kind(field)
    default = field.get_default(call_default_factory=True)
    text, declared, settings = field.description or "", flag(name), {"show_default": False, "rich_help_panel": panel}
    if kind is bool:
        annotation, declared = bool | None, f"{declared}/--no-{declared[2:]}" if default else declared
    else:
        many = typing.get_origin(kind) in (list, tuple)
        annotation, kind = (list[str] | None, typing.get_args(kind)[0]) if many else (str | None, kind)
        if typing.get_origin(kind) is typing.Literal:
            metavar = "|".join(map(str, typing.get_args(kind)))
        else:
            metavar = _METAVARS.get(kind, "VALUE") + (",..." if many else "")
        shown = ",".join(map(str, default)) if isinstance(default, list | tuple) else default
        text += " (required)" if field.is_required() else f" (default: {'none' if shown in (None, '') else shown})"
        settings |= {"metavar": metavar, "callback": split_commas if many else None}
    annotation = Annotated[annotation, typer.Option(declared, help=text.strip(), **settings)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _message(error: Exception, fields: Iterable[str] = ()) -> str:
    """What an error says, in a line; of a usage error also where to read on."""
    if isinstance(error, ValidationError):
        return "; ".join(_invalid(item, fields) for item in error.errors())
    if not isinstance(error, typer.TyperException):
        return str(error) or type(error).__name__
    if name := getattr(error, "option_name", None) if hasattr(error, "possibilities") else None:
        known = [option for each in error.ctx.command.get_params(error.ctx) for option in getattr(each, "opts", ())]
        message = f"there is no {name}{suggest(name, [option for option in known if option.startswith('--')])}"
    else:
        message = " ".join(error.format_message().split()).rstrip(".")
        message = message[:1].lower() + message[1:]
    context = getattr(error, "ctx", None)
    return f"{message}{'' if message.endswith('?') else ';'} see {context.command_path} --help" if context else message


def _invalid(item: Mapping[str, Any], fields: Iterable[str]) -> str:
    """One error of pydantic's in our words."""
    kind, message, value = item["type"], item["msg"], item["input"]
    name = flag(str(item["loc"][0])) if item["loc"] else "options"
    if kind == "value_error":  # raised by a check of our own, which names its options
        return message.removeprefix("Value error, ")
    if kind == "extra_forbidden":
        names = list(map(flag, fields))
        return f"there is no {name}{suggest(name, names) or '; there are ' + ', '.join(names)}"
    if kind == "missing":
        return f"{name} is missing"
    if kind == "literal_error":
        choices = [choice.strip().strip("'") for choice in item["ctx"]["expected"].replace(" or ", ", ").split(",")]
        return f"{name} {value}: choose from {', '.join(choices)}{suggest(str(value), choices)}"
    return f"{name} {value}: {_WANTED.get(kind.partition('_')[0], message.replace('Input should be', 'it must be', 1))}"
