// The tools and prompts that the conformance suite asks for by name, as workflows. Whatever needs no code has none.

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const nothing = { name: "begin", type: "wait", durationMs: 0 };
const signal = (name, more = {}) => ({ name, type: "external_event", signalType: name, saveAs: name.replaceAll("-", "_"), ...more });
const task = (name, handler, more = {}) => ({ name, type: "task", handler, retry: { maxAttempts: 1 }, ...more });
const text = (line) => ({ content: [{ type: "text", text: line }] });
const object = (properties, required = Object.keys(properties)) => ({ type: "object", properties, required });
const string = { type: "string" };
const boolean = { type: "boolean" };

const tool = (name, { mcp = {}, steps = [nothing], ...more }) => ({
  name,
  description: `The tool ${name} of the conformance suite.`,
  mcp,
  steps,
  ...more,
});
const prompt = (name, more) => tool(name, { ...more, mcp: { kind: "prompt", ...more.mcp } });
/** A tool whose run waits for what its caller is asked. */
const asking = (name, ask, output, more = {}) =>
  tool(name, { mcp: { ask }, steps: Object.keys(ask).map((key) => signal(key)), output, ...more });

const form = (message, properties) => ({ message, schema: object(properties) });
const sampling = (line, maxTokens = 100) => ({
  sampling: { messages: [{ role: "user", content: { type: "text", text: line } }], maxTokens },
});

const titled = (count, letter) =>
  ["First", "Second", "Third"].slice(0, count).map((word, at) => ({ const: `value${at + 1}`, title: `${word} ${letter}` }));
const enums = {
  untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
  titledSingle: { type: "string", oneOf: titled(3, "Option") },
  legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["Option One", "Option Two", "Option Three"] },
  untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
  titledMulti: { type: "array", items: { anyOf: titled(3, "Choice") } },
};
const defaults = {
  name: { type: "string", default: "John Doe" },
  age: { type: "integer", default: 30 },
  score: { type: "number", default: 95.5 },
  status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
  verified: { type: "boolean", default: true },
};

const tasks = [
  tool("greet", {
    mcp: { task: "never", readOnly: true },
    inputSchema: object({ name: string }),
    steps: [task("say", "greet")],
  }),
  tool("slow_compute", {
    inputSchema: object({ seconds: { type: "number" }, label: string }, ["seconds"]),
    steps: [{ name: "compute", type: "wait", duration: "{{ input.seconds }}s" }],
    output: text("computed for {{ input.seconds }} s"),
  }),
  tool("failing_job", { mcp: { task: "always" }, steps: [{ name: "work", type: "wait", duration: "1s" }, task("fail", "fail")] }),
  tool("protocol_error_job", { mcp: { task: "always" }, steps: [task("never", "greet", { config: { of: "{{ input.nothing }}" } })] }),
  asking("confirm_delete", { confirm: form("Delete {{ input.filename }}?", { confirm: boolean }) }, text("deleted: {{ state.confirm }}"), {
    inputSchema: object({ filename: string }),
  }),
  tool("multi_input", {
    mcp: {
      ask: {
        first: { message: "The first?", schema: object({ name: string, confirm: boolean }, []) },
        second: { message: "The second?", schema: object({ name: string, confirm: boolean }, []) },
      },
    },
    steps: [signal("first"), signal("second"), { ...nothing, name: "both", after: ["first", "second"] }],
    output: text("{{ state.first.name }} and {{ state.second.name }}"),
  }),
  tool("test_tool_with_task", {
    mcp: { task: "always", askFirst: { user_name: form("What is your name?", { name: string }) } },
    output: text("Hello, {{ input.user_name.name }}!"),
  }),
];

const inputRequired = [
  asking("test_input_required_result_elicitation", { user_name: form("What is your name?", { name: string }) }, text("Hello, {{ state.user_name.name }}!")),
  asking("test_input_required_result_sampling", { capital_question: sampling("What is the capital of France?") }, text("{{ state.capital_question.content.text }}")),
  asking("test_input_required_result_list_roots", { client_roots: { roots: true } }, text("The roots: {{ state.client_roots.roots }}")),
  asking("test_input_required_result_request_state", { confirm: form("Please confirm", { ok: boolean }) }, text("state-ok: {{ state.confirm.ok }}")),
  asking(
    "test_input_required_result_multiple_inputs",
    { user_name: form("What is your name?", { name: string }), greeting: sampling("Generate a greeting", 50), client_roots: { roots: true } },
    text("{{ state.greeting.content.text }}, {{ state.user_name.name }}!"),
    {
      steps: [
        signal("user_name"),
        signal("greeting"),
        signal("client_roots"),
        { ...nothing, name: "all", after: ["user_name", "greeting", "client_roots"] },
      ],
    },
  ),
  asking(
    "test_input_required_result_multi_round",
    {
      step1: form("Step 1: What is your name?", { name: string }),
      step2: form("Step 2: What is your favorite color?", { color: string }),
    },
    text("{{ state.step1.name }} likes {{ state.step2.color }}"),
  ),
  asking("test_input_required_result_tampered_state", { confirm: form("Please confirm", { ok: boolean }) }, text("{{ state.confirm.ok }}")),
  asking(
    "test_input_required_result_capabilities",
    { person: form("Who are you?", { name: string }), model: sampling("Who are you?") },
    text("{{ state.model }}"),
    { steps: [signal("person"), signal("model"), { ...nothing, name: "one", after: ["person", "model"] }] },
  ),
  asking("test_streaming_elicitation", { more: form("More?", { more: boolean }) }, text("{{ state.more.more }}")),
  tool("test_missing_capability", { mcp: { askFirst: { answer: sampling("Anything?") } }, output: text("{{ input.answer }}") }),
];

const results = [
  tool("test_simple_text", { output: text("This is a simple text response for testing.") }),
  tool("test_image_content", { output: { content: [{ type: "image", data: PNG, mimeType: "image/png" }] } }),
  tool("test_audio_content", { output: { content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }] } }),
  tool("test_embedded_resource", {
    output: {
      content: [
        {
          type: "resource",
          resource: { uri: "test://embedded-resource", mimeType: "text/plain", text: "This is an embedded resource content." },
        },
      ],
    },
  }),
  tool("test_multiple_content_types", {
    output: {
      content: [
        { type: "text", text: "Multiple content types test:" },
        { type: "image", data: PNG, mimeType: "image/png" },
        {
          type: "resource",
          resource: { uri: "test://mixed-content-resource", mimeType: "application/json", text: '{"test":"data","value":123}' },
        },
      ],
    },
  }),
  tool("test_error_handling", { steps: [task("fail", "fail")] }),
  tool("test_tool_with_progress", {
    steps: [
      { name: "first", type: "wait", durationMs: 50 },
      { name: "second", type: "wait", durationMs: 50 },
    ],
    output: text("done"),
  }),
  tool("test_tool_with_logging", { steps: [task("work", "log")] }),
  tool("test_logging_tool", { steps: [task("work", "log")] }),
  tool("test_reconnection", { output: text("done") }),
  asking("test_sampling", { answer: sampling("{{ input.prompt }}") }, text("LLM response: {{ state.answer.content.text }}"), {
    inputSchema: object({ prompt: string }),
  }),
  asking(
    "test_elicitation",
    {
      answer: {
        message: "{{ input.message }}",
        schema: object({
          username: { type: "string", description: "User's response" },
          email: { type: "string", description: "User's email address" },
        }),
      },
    },
    text("User response: {{ state.answer }}"),
    { inputSchema: object({ message: string }) },
  ),
  asking("test_elicitation_sep1034_defaults", { answer: { message: "Please check", schema: object(defaults, []) } }, text("Elicitation completed: {{ state.answer }}")),
  asking("test_elicitation_sep1330_enums", { answer: { message: "Please choose", schema: object(enums, []) } }, text("Elicitation completed: {{ state.answer }}")),
  tool("json_schema_2020_12_tool", {
    inputSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: { address: { $anchor: "addressDef", type: "object", properties: { street: string, city: string } } },
      properties: {
        name: string,
        address: { $ref: "#/$defs/address" },
        contactMethod: { type: "string", enum: ["phone", "email"] },
        phone: string,
        email: string,
      },
      allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
      if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
      then: { required: ["phone"] },
      else: { required: ["email"] },
      additionalProperties: false,
    },
    output: text("good"),
  }),
  tool("test_custom_header", {
    inputSchema: object({ region: { type: "string", "x-mcp-header": "Region" } }),
    output: text("{{ input.region }}"),
  }),
  tool("test_trigger_tool_change", { steps: [task("deploy", "deploy-tool")] }),
  tool("test_trigger_prompt_change", { steps: [task("deploy", "deploy-prompt")] }),
];

const says = (...content) => ({ messages: content.map((block) => ({ role: "user", content: block })) });
const prompts = [
  prompt("test_simple_prompt", { output: says({ type: "text", text: "This is a simple prompt for testing." }) }),
  prompt("test_prompt_with_arguments", {
    inputSchema: object({ arg1: { type: "string", description: "First test argument" }, arg2: { type: "string", description: "Second test argument" } }),
    output: says({ type: "text", text: "Prompt with arguments: arg1='{{ input.arg1 }}', arg2='{{ input.arg2 }}'" }),
  }),
  prompt("test_prompt_with_embedded_resource", {
    inputSchema: object({ resourceUri: { type: "string", description: "URI of the resource to embed" } }),
    output: says(
      { type: "resource", resource: { uri: "{{ input.resourceUri }}", mimeType: "text/plain", text: "Embedded resource content for testing." } },
      { type: "text", text: "Please process the embedded resource above." },
    ),
  }),
  prompt("test_prompt_with_image", {
    output: says({ type: "image", data: PNG, mimeType: "image/png" }, { type: "text", text: "Please analyze the image above." }),
  }),
  prompt("test_input_required_result_prompt", {
    mcp: { ask: { user_context: form("What context should the prompt use?", { context: string }) } },
    steps: [signal("user_context")],
    output: says({ type: "text", text: "Context: {{ state.user_context.context }}" }),
  }),
];

/** A handler that lasts: it asks for a name, waits, and asks whether to go on. */
const lasting = [
  asking(
    "book_trip",
    { traveller: form("Who travels to {{ input.city }}?", { name: string }), confirm: form("Book it for {{ state.traveller.name }}?", { ok: boolean }) },
    text("{{ state.traveller.name }} travels to {{ input.city }}: {{ state.confirm.ok }}"),
    { inputSchema: object({ city: string }) },
  ),
  tool("publish", {
    inputSchema: object({ title: string }),
    steps: [
      task("write", "draft", { saveAs: "draft" }),
      { name: "review", type: "approval", contentKey: "draft", prompt: "Publish {{ input.title }}?" },
    ],
    output: text("{{ steps.review.output.decision }}"),
  }),
];

export const workflows = [...tasks, ...inputRequired, ...results, ...prompts, ...lasting];
