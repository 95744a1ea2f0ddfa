"""What the public conformance suite asks a server for, under the names that it asks by: one small thing per scenario.

Defined with the SDK's framework, which the product does without; `fixture_server` puts them beside the product's tools.
"""

from __future__ import annotations

import base64
import json
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer, RequestStateSecurity
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.shared.exceptions import MCPError
from mcp.types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    Completion,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    EmbeddedResource,
    ImageContent,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    TextContent,
    TextResourceContents,
)
from pydantic import BaseModel, Field

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="

SEALED = RequestStateSecurity(keys=[b"of no worth, and used in tests alone"])
fixtures = MCPServer("findling", request_state_security=SEALED, log_level="WARNING")


def tool(function: Any) -> Any:
    return fixtures.tool(description=function.__name__.replace("_", " "))(function)


def prompt(function: Any) -> Any:
    return fixtures.prompt(description=function.__name__.replace("_", " "))(function)


def embedded(uri: str, text: str, mime_type: str = "text/plain") -> EmbeddedResource:
    return EmbeddedResource(resource=TextResourceContents(uri=uri, mime_type=mime_type, text=text))


# --- kinds of content -------------------------------------------------------------------------------------------


@tool
def test_simple_text() -> str:
    return "This is a simple text response for testing."


@tool
def test_image_content() -> list[ImageContent]:
    return [ImageContent(data=PNG, mime_type="image/png")]


@tool
def test_audio_content() -> list[AudioContent]:
    return [AudioContent(data=WAV, mime_type="audio/wav")]


@tool
def test_embedded_resource() -> list[EmbeddedResource]:
    return [embedded("test://embedded-resource", "This is an embedded resource content.")]


@tool
def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
    return [
        TextContent(text="Multiple content types test:"),
        ImageContent(data=PNG, mime_type="image/png"),
        embedded("test://mixed-content-resource", '{"test": "data", "value": 123}', "application/json"),
    ]


@tool
def test_error_handling() -> str:
    raise RuntimeError("This tool intentionally returns an error for testing")


# --- what goes to the client before the answer ------------------------------------------------------------------


@tool
async def test_tool_with_logging(ctx: Context[Any, Any]) -> str:
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(words)
    return "Tool with logging executed successfully"


@tool
async def test_logging_tool(ctx: Context[Any, Any]) -> str:
    await ctx.info("only for a client that asked for it")
    return "done"


@tool
async def test_tool_with_progress(ctx: Context[Any, Any]) -> str:
    for step in (0, 50, 100):
        await ctx.report_progress(step, 100, f"Completed step {step} of 100")
    return "done"


@tool
async def test_sampling(prompt: str, ctx: Context[Any, Any]) -> str:
    said = await ctx.session.create_message(
        messages=[SamplingMessage(role="user", content=TextContent(text=prompt))],
        max_tokens=100,
        related_request_id=ctx.request_id,
    )
    return f"LLM response: {said.content.text if said.content.type == 'text' else ''}"


class UserResponse(BaseModel):
    response: str = Field(description="User's response")


class Defaults(BaseModel):
    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: str = Field("active", json_schema_extra={"enum": ["active", "inactive", "pending"]})
    verified: bool = True


def titled(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"const": value, "title": title} for value, title in pairs]


LEVELS = titled(("low", "Low Priority"), ("high", "High Priority"))
TOPICS = titled(("bug", "Bug Fix"), ("docs", "Documentation"))
SIZES = {"enum": ["small", "large"], "enumNames": ["Small Size", "Large Size"]}


class Choices(BaseModel):
    untitledSingle: str = Field(json_schema_extra={"enum": ["active", "inactive"]})
    titledSingle: str = Field(json_schema_extra={"oneOf": LEVELS})  # type: ignore[dict-item]
    untitledMulti: list[str] = Field(json_schema_extra={"items": {"type": "string", "enum": ["r", "w"]}})
    titledMulti: list[str] = Field(json_schema_extra={"items": {"anyOf": TOPICS}})  # type: ignore[dict-item]
    legacyEnum: str = Field(json_schema_extra=SIZES)  # type: ignore[arg-type]


async def elicited(ctx: Context[Any, Any], schema: type[BaseModel]) -> str:
    answer = await ctx.elicit("Please answer", schema)
    return f"action={answer.action}, content={answer.data.model_dump_json() if answer.action == 'accept' else '{}'}"


@tool
async def test_elicitation(message: str, ctx: Context[Any, Any]) -> str:
    return f"User response: {await elicited(ctx, UserResponse)}"


@tool
async def test_elicitation_sep1034_defaults(ctx: Context[Any, Any]) -> str:
    return f"Elicitation result: {await elicited(ctx, Defaults)}"


@tool
async def test_elicitation_sep1330_enums(ctx: Context[Any, Any]) -> str:
    return f"Elicitation completed: {await elicited(ctx, Choices)}"


# --- headers, capabilities, schemas -----------------------------------------------------------------------------


@tool
def test_x_mcp_header(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "") -> str:
    return f"region={region}"


@tool
async def test_missing_capability(ctx: Context[Any, Any]) -> str:
    capabilities = ctx.session.client_capabilities
    if capabilities is None or capabilities.sampling is None:
        needed = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "This tool needs the client's sampling.", needed)
    return "sampling is there"


RICH_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
"""Listed by `fixture_server` as the schema of this tool, which the framework cannot be told."""


@tool
def json_schema_2020_12_tool() -> str:
    return "done"


# --- answers that ask back --------------------------------------------------------------------------------------


def ask(field: str = "name", kind: str = "string") -> ElicitRequest:
    schema = {"type": "object", "properties": {field: {"type": kind}}, "required": [field]}
    return ElicitRequest(params=ElicitRequestFormParams(message=f"Your {field}?", requested_schema=schema))


def sample(words: str) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=TextContent(text=words))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=50))


def answered(ctx: Context[Any, Any], key: str, field: str) -> str | None:
    """What the client's person wrote into ``field`` of the request ``key``."""
    answer = (ctx.input_responses or {}).get(key)
    return str((answer.content or {}).get(field)) if isinstance(answer, ElicitResult) else None


@tool
async def test_input_required_result_elicitation(ctx: Context[Any, Any]) -> str | InputRequiredResult:
    name = answered(ctx, "user_name", "name")
    return f"Hello, {name}!" if name else InputRequiredResult(input_requests={"user_name": ask()})


@tool
async def test_streaming_elicitation(ctx: Context[Any, Any]) -> str | InputRequiredResult:
    await ctx.report_progress(1, 2)
    return InputRequiredResult(input_requests={"user_name": ask()})


@tool
async def test_input_required_result_sampling(ctx: Context[Any, Any]) -> str | InputRequiredResult:
    answer = (ctx.input_responses or {}).get("capital_question")
    if isinstance(answer, CreateMessageResult) and answer.content.type == "text":
        return f"Model said: {answer.content.text}"
    return InputRequiredResult(input_requests={"capital_question": sample("What is the capital of France?")})


@tool
async def test_input_required_result_list_roots(ctx: Context[Any, Any]) -> str | InputRequiredResult:
    if "client_roots" in (ctx.input_responses or {}):
        return "Client exposed its roots."
    return InputRequiredResult(input_requests={"client_roots": ListRootsRequest()})


@tool
async def test_input_required_result_request_state(ctx: Context[Any, Any]) -> str | InputRequiredResult:
    if answered(ctx, "confirm", "ok") and ctx.request_state == "nonce":
        return "state-ok: confirmation received"
    return InputRequiredResult(input_requests={"confirm": ask("ok", "boolean")}, request_state="nonce")


@tool
async def test_input_required_result_tampered_state(ctx: Context[Any, Any]) -> str | InputRequiredResult:
    if ctx.request_state is not None:  # one that was changed on its way does not come this far
        return f"state-ok: {ctx.request_state}"
    return InputRequiredResult(input_requests={"confirm": ask("ok", "boolean")}, request_state="round-1")


@tool
async def test_input_required_result_multiple_inputs(ctx: Context[Any, Any]) -> str | InputRequiredResult:
    wanted: dict[str, InputRequest] = {
        "user_name": ask(),
        "greeting": sample("Generate a greeting"),
        "client_roots": ListRootsRequest(),
    }
    if wanted.keys() <= (ctx.input_responses or {}).keys():
        return "All inputs received."
    return InputRequiredResult(input_requests=wanted, request_state="multiple-inputs")


@tool
async def test_input_required_result_multi_round(ctx: Context[Any, Any]) -> str | InputRequiredResult:
    state = json.loads(ctx.request_state or '{"round": 0}')
    name = answered(ctx, "step1", "name")
    colour = answered(ctx, "step2", "color")
    if state["round"] == 2 and colour:
        return f"{state['name']} likes {colour}."
    if state["round"] == 1 and name:
        asked: dict[str, InputRequest] = {"step2": ask("color")}
        return InputRequiredResult(input_requests=asked, request_state=json.dumps({"round": 2, "name": name}))
    return InputRequiredResult(input_requests={"step1": ask()}, request_state='{"round": 1}')


@tool
async def test_input_required_result_capabilities(ctx: Context[Any, Any]) -> InputRequiredResult:
    able = ctx.client_capabilities
    wanted: dict[str, InputRequest] = {}
    if able is None or able.sampling is not None:
        wanted["sample"] = sample("Say hello")
    if able is None or able.elicitation is not None:
        wanted["ask"] = ask()
    return InputRequiredResult(input_requests=wanted, request_state="capability-gated")


# --- resources and prompts --------------------------------------------------------------------------------------


@fixtures.resource("test://static-text")
def static_text() -> str:
    return "This is the content of the static text resource."


@fixtures.resource("test://static-binary")
def static_binary() -> bytes:
    return base64.b64decode(PNG)


@fixtures.resource("test://watched-resource")
def watched() -> str:
    return "Watched resource content"


@fixtures.resource("test://template/{id}/data")
def template(id: str) -> str:
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


def said(*content: TextContent | ImageContent | EmbeddedResource) -> list[UserMessage]:
    return [UserMessage(content=item) for item in content]


@prompt
def test_simple_prompt() -> list[UserMessage]:
    return said(TextContent(text="This is a simple prompt for testing."))


@prompt
def test_prompt_with_arguments(arg1: str, arg2: str) -> list[UserMessage]:
    return said(TextContent(text=f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"))


@prompt
def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:
    return said(embedded(resourceUri, "Embedded resource content for testing."), TextContent(text="Process it."))


@prompt
def test_prompt_with_image() -> list[UserMessage]:
    return said(ImageContent(data=PNG, mime_type="image/png"), TextContent(text="Please analyze the image above."))


@prompt
async def test_input_required_result_prompt(ctx: Context[Any, Any]) -> list[UserMessage] | InputRequiredResult:
    context = answered(ctx, "user_context", "context")
    if context:
        return said(TextContent(text=f"Use the following context: {context}"))
    return InputRequiredResult(input_requests={"user_context": ask("context")})


@fixtures.completion()
async def complete(_ref: object, _argument: object, _context: object) -> Completion:
    return Completion(values=[], total=0, has_more=False)
