// The official TypeScript client, as an application uses it.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

export const TASKS = "io.modelcontextprotocol/tasks";
/** Takes whatever comes: methods of an extension have no schema in the client. */
export const anything = {
  "~standard": { version: 1, vendor: "abide", validate: (value) => ({ value }) },
};

/**
 * A client that is connected. `answer` is what its person says to a form; `seen` is every result that came over the wire: this
 * version of the client throws `resultType: "task"` away.
 */
export const connect = async (url, { key, answer, tasks = false, mode = { pin: "2026-07-28" }, transport } = {}) => {
  const capabilities = { ...(answer && { elicitation: {} }), ...(tasks && { elicitation: {}, extensions: { [TASKS]: {} } }) };
  const client = new Client({ name: "abide-guest", version: "1.0.0" }, { capabilities, versionNegotiation: { mode } });
  if (answer) client.setRequestHandler("elicitation/create", async (request) => answer(request.params));
  const seen = [];
  const watched = async (...request) => {
    const response = await fetch(...request);
    response
      .clone()
      .json()
      .then(({ result }) => seen.push(result), () => {});
    return response;
  };
  const headers = key ? { authorization: `Bearer ${key}` } : {};
  await client.connect(transport ?? new StreamableHTTPClientTransport(new URL(url), { fetch: watched, requestInit: { headers } }));
  return Object.assign(client, { seen });
};

/** Starts a task, and gives its id. */
export const startTask = async (client, name, args) => {
  const call = { method: "tools/call", params: { name, arguments: args } };
  await client.request(call, anything).catch((error) => {
    if (error.code !== "UNSUPPORTED_RESULT_TYPE") throw error;
  });
  for (;;) {
    const task = client.seen.find((result) => result?.resultType === "task");
    if (task) return task.taskId;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

export const task = (client, taskId) => client.request({ method: "tasks/get", params: { taskId } }, anything);
export const update = (client, taskId, inputResponses) =>
  client.request({ method: "tasks/update", params: { taskId, inputResponses } }, anything);
