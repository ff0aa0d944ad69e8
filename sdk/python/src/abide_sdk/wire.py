"""Written by sdk/generate from schema/openapi.json; change that, not this."""

from __future__ import annotations

from typing import Literal, NotRequired, TypeAlias, TypedDict, Union

Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"
"""Any JSON value."""


class Activity(TypedDict):
    """Of the whole server, one sample after the other."""

    everyMs: int
    samples: list[ActivitySample]


class ActivitySample(TypedDict):
    """What happened between two looks."""

    at: str
    """When it ended."""
    latenessP50Ms: int
    """From a timer's instant to its firing, in milliseconds: half of them were quicker."""
    latenessP99Ms: int
    """99 of 100 were quicker."""
    records: int
    """Records written to histories."""
    timers: int
    """Timers that fired."""


class ApprovalLink(TypedDict):
    """A link that lets somebody decide."""

    confirmUrl: str
    """For people: a page that shows the content, and asks."""
    recipient: str | None
    """Whom it is for; null: anyone."""
    resumeUrl: str
    """For programs: a POST decides."""


class ApprovalRequest(TypedDict):
    """A request, and what was decided."""

    allowSelfApproval: bool
    """Whether whoever started the run may decide."""
    approvers: list[str]
    """Empty: anyone with the scope `approve`."""
    call: NotRequired[str | None]
    """The durable call of a handler that asks; absent where the step itself does."""
    content: Json
    contentDigest: str
    """Stands for the content that is shown: send it along with a decision."""
    contentSchema: NotRequired[Json]
    """What edited content must satisfy."""
    createdAt: str
    decisions: list[Vote]
    id: str
    outcome: NotRequired[Json]
    """What was decided."""
    prompt: NotRequired[str | None]
    quorum: int
    resolvedAt: NotRequired[str | None]
    resolvedBy: NotRequired[str | None]
    resumeAt: str | None
    """The wait's deadline; null: none."""
    resumeUrl: NotRequired[str | None]
    """A URL with which one can decide without a key. Shown to those who may decide."""
    runId: str
    status: Literal["PENDING", "COMPLETED", "TIMED_OUT", "CANCELLED"]
    stepName: NotRequired[str | None]


class ApprovalRequestList(TypedDict):
    """A part of a list."""

    data: list[ApprovalRequest]
    nextCursor: str | None
    """Give it as `cursor` to get what follows; null at the end."""


class ApprovalState(TypedDict):
    """What people are asked to decide, and what they have decided so far."""

    allowSelfApproval: bool
    """Whether whoever started the run may decide."""
    approvers: list[str]
    """Empty: anyone with the scope `approve`."""
    content: Json
    contentDigest: str
    """Stands for the content that is shown: send it along with a decision."""
    contentSchema: NotRequired[Json]
    """What edited content must satisfy."""
    decisions: list[Vote]
    prompt: NotRequired[str | None]
    quorum: int


class Ask(TypedDict):
    """What people are asked."""

    approvers: NotRequired[list[str]]
    """Every key with the scope `approve`, and whoever has a link, if absent."""
    content: NotRequired[Json]
    """What is to be approved."""
    contentSchema: NotRequired[Json]
    """A JSON Schema that edited content must satisfy."""
    prompt: NotRequired[str | None]
    quorum: NotRequired[int | None]
    """Approvals that are needed; 1 if absent."""


class Attempt(TypedDict):
    at: str
    error: NotRequired[str | None]
    """Why there was no answer."""
    response: NotRequired[str | None]
    """The beginning of the answer."""
    status: NotRequired[int | None]
    """The status of the answer."""
    tookMs: int


class AuditEntry(TypedDict):
    """A control action."""

    action: str
    """Such as `key.made`."""
    address: NotRequired[str | None]
    """Where the request came from."""
    at: str
    by: str
    """The name of the key."""
    detail: NotRequired[Json]
    hash: str
    """Of this entry and of the one before."""
    key: NotRequired[str | None]
    """The key's id; absent where no key was needed."""
    number: int
    """From 1 on, over all workspaces."""
    requestId: NotRequired[str | None]
    target: str
    """The path of the request."""
    workspace: str


class AuditEntryList(TypedDict):
    """A part of a list."""

    data: list[AuditEntry]
    nextCursor: str | None
    """Give it as `cursor` to get what follows; null at the end."""


class AuditVerified(TypedDict):
    """Whether the audit log is as it was written."""

    brokenAt: NotRequired[int | None]
    """The first that is not what it was."""
    entries: NotRequired[int | None]
    """How many there are, where it is whole."""
    last: NotRequired[str | None]
    """The hash of the last one, where it is whole."""
    whole: bool


class BulkCommand(TypedDict):
    action: Literal["cancel", "pause", "unpause", "retry", "pin", "unpin", "move"]
    build: NotRequired[str | None]
    """With `pin`: the build whose workers are given their tasks."""
    cursor: NotRequired[str | None]
    """The `nextCursor` of the request before."""
    dryRun: NotRequired[bool]
    """Only count."""
    filter: RunFilter
    """An empty filter finds every run."""
    handler: NotRequired[str | None]
    """With `pin` and `unpin`: only tasks of this handler; all if absent."""
    limit: NotRequired[int | None]
    """Runs at most; 10000 if absent."""
    reason: NotRequired[str | None]
    """With `cancel`: stands in the histories."""
    version: NotRequired[str | None]
    """With `move`: the version that the runs go on with."""


class BulkDone(TypedDict):
    """What became of many runs."""

    done: int
    """Runs that did as they were told, or would be moved."""
    dryRun: bool
    matched: int
    """Runs that the filter found."""
    nextCursor: str | None
    """There may be more: give it as `cursor`."""
    refusals: list[RefusedRun]
    """The first of those that could not, and why."""
    refused: int
    """Runs that could not."""


class BulkSteered(TypedDict):
    """What became of many waits."""

    done: int
    dryRun: bool
    matched: int
    """Waits that the filter found."""
    nextCursor: str | None
    """There may be more: give it as `cursor`."""
    refusals: list[RefusedWaitpoint]
    """The first of those that could not be steered, and why."""
    refused: int


class BulkSteering(TypedDict):
    action: Literal["complete", "skip", "reschedule", "timeout", "cancel"]
    cursor: NotRequired[str | None]
    """The `nextCursor` of the request before."""
    dryRun: NotRequired[bool]
    """Only count."""
    filter: WaitpointFilter
    """Only pending waits are found."""
    limit: NotRequired[int | None]
    """Waits at most; 10000 if absent."""
    output: NotRequired[Json]
    """With `skip`: the output of the steps; null if absent."""
    payload: NotRequired[Json]
    """With `complete`: as if this had come."""
    reason: NotRequired[str | None]
    """With `skip`: stands in the histories."""
    resumeAt: NotRequired[str | None]
    """With `reschedule`: the new instant."""


class CallLimit(TypedDict):
    """A limit that a durable call asks for room under: `concurrency`, `rate` with `per`, or both."""

    burst: NotRequired[int | None]
    """How many may begin at once after a quiet time; 1 if absent."""
    concurrency: NotRequired[int | None]
    """How many may have room at the same time."""
    key: NotRequired[str | None]
    """Each key has room of its own; all share one if absent."""
    name: str
    """What the limit is called. With `scope: workspace`, all that name it share it."""
    per: NotRequired[str | None]
    """`perMs` as text: `1m`."""
    perMs: NotRequired[int | None]
    rate: NotRequired[int | None]
    """How many may begin in the time of `per`."""
    scope: NotRequired[LimitScope | None]
    """`workflow` if absent."""


class CallRetry(TypedDict):
    """How often a call that the engine makes is tried, and after what time."""

    backoffMs: NotRequired[int | None]
    """The longest time before the second attempt; 1000 if absent."""
    backoffMultiplier: NotRequired[float | None]
    """By how much that grows from attempt to attempt; 2 if absent."""
    maxAttempts: NotRequired[int | None]
    """All attempts together; 3 if absent."""
    maxBackoffMs: NotRequired[int | None]
    """The longest back-off in milliseconds; 300000 if absent."""


class Caller(TypedDict):
    name: str
    """What histories say: the key's name."""
    scopes: list[Literal["read", "deploy", "run", "worker", "approve", "admin"]]
    workspace: str
    """The workspace's id."""


class CancelRun(TypedDict):
    reason: NotRequired[str | None]
    """Stands in the history."""


class ChangeSchedule(TypedDict):
    catchUp: NotRequired[Literal["none", "last", "all"]]
    cron: NotRequired[str | None]
    definition: NotRequired[str | None]
    every: NotRequired[str | None]
    everyMs: NotRequired[int | None]
    input: NotRequired[Json]
    name: NotRequired[str | None]
    overlap: NotRequired[Literal["skip", "queue", "cancelPrevious", "allow"]]
    tags: NotRequired[list[str] | None]
    timezone: NotRequired[str | None]
    version: NotRequired[str | None]


class ChangeWebhook(TypedDict):
    description: NotRequired[str | None]
    enabled: NotRequired[bool | None]
    """`false`: nothing is sent, and what was still to be sent is kept."""
    events: NotRequired[list[Literal["workflow.completed", "workflow.failed", "workflow.cancelled", "approval.requested", "approval.decided", "wait.overdue"]]]
    url: NotRequired[str | None]


class ChangeWorkspace(TypedDict):
    quotas: Quotas


class CheckedDefinition(TypedDict):
    """What a check found."""

    problems: list[Finding]
    valid: bool
    warnings: list[Finding]


class CheckedGroup(TypedDict):
    """Runs of one version that wait at the same steps, and what keeps them from the new one."""

    examples: list[str]
    """Some of them."""
    fits: bool
    misfits: list[Misfit]
    runs: int
    """How many there are."""
    version: str
    waitingAt: list[str]
    """The steps where they wait; empty: for their start."""


class CheckedRuns(TypedDict):
    """How the runs that wait would fit a new version."""

    fit: int
    """Those that could be moved."""
    groups: list[CheckedGroup]
    """Runs alike."""
    lookedAt: int
    """Runs that were looked at."""
    name: str | None
    """Of the new version."""
    nextCursor: str | None
    """There may be more: give it as `cursor`."""
    notTold: int
    """Runs of groups that are not told, because there are too many."""
    problems: list[Finding]
    stranded: int
    """Those whose past does not fit."""
    unclear: int
    """Those that have changed since they were found, or cannot be read."""
    valid: bool
    """Whether the document is a workflow; otherwise `problems` says what is wrong, and no run was looked at."""
    version: str | None


class CodeMismatch(TypedDict):
    """What was recorded, and what the code came to instead."""

    found: str
    """What the code came to."""
    recorded: str
    """What the journal holds."""


class CommandedRun(TypedDict):
    """A run that did as it was told."""

    changed: bool
    """False: what was asked for was so already."""
    id: str
    pausing: bool
    """A pause is asked for, or in effect."""
    status: Literal["PENDING", "RUNNING", "WAITING", "PAUSED", "COMPLETED", "FAILED", "CANCELLED"]


class CompleteWaitpoint(TypedDict):
    payload: NotRequired[Json]
    """As if this had come."""


class CostSummary(TypedDict):
    data: list[DayCost]
    total: Spent


class Counted(TypedDict):
    count: int
    more: bool
    """There are more than were counted."""


class CreateWaitpoint(TypedDict):
    allowGet: NotRequired[bool]
    """Of a WEBHOOK: let a plain GET resume it. Link scanners open every link."""
    approval: NotRequired[Ask | None]
    """Of an APPROVAL: what is asked."""
    asked: NotRequired[str | None]
    """What the code asks for, in its own words. A recorded wait answers only code that asks the same."""
    leaseToken: str
    """Of the task that will wait for it."""
    name: str
    responseToSend: NotRequired[ResponseToSend | None]
    """The reply to whoever started or resumed the run and listens. It leaves at once; the handler goes on, and can wait."""
    resumeDateTime: NotRequired[str | None]
    """Of a DELAY: when it ends. A past instant is over at once."""
    timeout: NotRequired[str | None]
    """`timeoutMs` as text: `2d 4h`."""
    timeoutMs: NotRequired[int | None]
    """Of a WEBHOOK or an APPROVAL: how long it may take; no limit if absent."""
    type: NotRequired[Literal["WEBHOOK", "DELAY", "APPROVAL"]]
    """`WEBHOOK`: a call on its `resumeUrl` ends it. `DELAY`: the clock does, at `resumeDateTime`. `APPROVAL`: people do, whom its `links` can be given to. `WEBHOOK` if absent."""


class DayCost(TypedDict):
    """Tokens and money."""

    cachedInputTokens: int
    """Input tokens that a provider had seen before, a part of all input tokens."""
    calls: int
    """Failed ones too."""
    costMicros: int
    """In millionths of the currency of the price table."""
    day: str
    definition: str
    inputTokens: int
    model: str
    outputTokens: int
    unpricedCalls: int
    """Calls that used tokens of a model without a price."""


class Decide(TypedDict):
    comment: NotRequired[str | None]
    contentDigest: NotRequired[str | None]
    """The `contentDigest` of what was shown: if the content is another now, nothing is decided."""
    decision: Literal["approve", "reject", "edit"]
    editedContent: NotRequired[Json]
    """With `edit`: what replaces the content."""
    idempotencyKey: NotRequired[str | None]
    """As the header `Idempotency-Key`."""


class Decided(TypedDict):
    """Where a request stands after a decision."""

    approvals: int
    id: str
    quorum: int
    """Approvals that are needed."""
    resolved: bool
    """Whether the run goes on."""
    runId: str


class Definition(TypedDict):
    """A version of a workflow. It never changes."""

    createdAt: str
    document: Json
    """The workflow as it was posted."""
    id: str
    name: str
    version: str


class DefinitionRef(TypedDict):
    id: NotRequired[str | None]
    name: str
    version: str


class DefinitionSummary(TypedDict):
    """A definition in a list."""

    createdAt: str
    id: str
    name: str
    version: str


class DefinitionSummaryList(TypedDict):
    """A part of a list."""

    data: list[DefinitionSummary]
    nextCursor: str | None
    """Give it as `cursor` to get what follows; null at the end."""


class Delivery(TypedDict):
    """One thing a webhook is told."""

    attempts: list[Attempt]
    """The last attempts, the oldest first."""
    createdAt: str
    event: Literal["workflow.completed", "workflow.failed", "workflow.cancelled", "approval.requested", "approval.decided", "wait.overdue"]
    id: str
    """Sent as `webhook-id`, the same at every attempt."""
    nextAttemptAt: str | None
    """Null when nothing more is to be done, or while the webhook is disabled."""
    runId: str
    status: Literal["PENDING", "DELIVERED", "FAILED"]
    webhookId: str


class DeliveryList(TypedDict):
    """A part of a list."""

    data: list[Delivery]
    nextCursor: str | None
    """Give it as `cursor` to get what follows; null at the end."""


class DeployedDefinition(TypedDict):
    """A definition that is stored."""

    created: bool
    """False when the very same was there already."""
    id: str
    name: str
    version: str
    warnings: list[Finding]
    """What is doubtful about it."""


class StoredEvent(TypedDict):
    """An event."""

    eventData: Json
    eventId: str
    id: str
    receivedAt: str


class StoredEventList(TypedDict):
    """A part of a list."""

    data: list[StoredEvent]
    nextCursor: str | None
    """Give it as `cursor` to get what follows; null at the end."""


class EventSent(TypedDict):
    """Whom an event woke."""

    delivering: bool
    """The event is stored, and on its way to more waiters, or to more runs that it starts, than one round has room for. That goes on by itself, after a restart too; there is no need to send it again."""
    dryRun: bool
    id: str | None
    """Null for a dry run."""
    keptFor: str | None
    """For whom: `everyone`, or the run it was sent to. Null: it was not stored."""
    started: list[EventStart]
    """What it started, by the `startOn` of workflows, before this answer was given; with `dryRun`: what it would start."""
    stored: bool
    """The event is kept: a wait that begins later, and looks back to it, takes it. To send it again would be a second event."""
    waiters: list[Woken]
    """The waits that took it before this answer was given."""


class EventStart(TypedDict):
    """What an event started, was to start, or would start."""

    outcome: EventStartOutcome
    problem: NotRequired[StartProblem | None]
    """Why there is no run."""
    runId: NotRequired[str | None]
    """The run, if there is one."""
    version: str
    workflow: str
    """The workflow's name."""


class Failure(TypedDict):
    """Why a step or a run failed."""

    code: str
    detail: NotRequired[FailureDetail | None]
    """Where in the handler it came from. The stack is with the step, not with its run."""
    message: str
    step: NotRequired[str | None]


class FailureCause(TypedDict):
    """An error that another one was caused by."""

    message: str
    type: NotRequired[str | None]
    """The error's type in the handler's language."""


class FailureDetail(TypedDict):
    """Where a failure of a handler came from. What is too long is cut, and what looks like a secret is hidden."""

    attempt: NotRequired[int | None]
    """Of the step, from 1. The server knows it."""
    call: NotRequired[str | None]
    """The durable call that failed."""
    causes: NotRequired[list[FailureCause]]
    """What the error was caused by, the nearest first."""
    stack: NotRequired[str | None]
    type: NotRequired[str | None]
    """The error's type in the handler's language."""


class Finding(TypedDict):
    """One thing that is wrong, at one place."""

    code: str
    expected: NotRequired[str | None]
    """What would be right."""
    message: str
    nearest: NotRequired[str | None]
    """The nearest valid name."""
    pointer: str
    """A JSON pointer; `/limit` for the query parameter `limit`."""


class Health(TypedDict):
    held: NotRequired[int | None]
    """At `/ready`: runs and schedules that are held, of all workspaces."""
    status: str
    """`ok`; at `/ready`, `paused` where the server only shows what there is."""
    store: NotRequired[str | None]
    """At `/ready`: the id of the store, which no other has, not even a copy of it."""
    version: str


class Held(TypedDict):
    """Since when something is held, and why."""

    by: str
    reason: str
    since: str


class HeldItem(TypedDict):
    by: str
    """`engine`, or who asked for it."""
    id: str
    """Of a run or of a schedule."""
    reason: str
    since: str


class HeldItemList(TypedDict):
    """A part of a list."""

    data: list[HeldItem]
    nextCursor: str | None
    """Give it as `cursor` to get what follows; null at the end."""


class Hold(TypedDict):
    id: str
    """Of a run or of a schedule."""
    reason: NotRequired[str | None]
    """Shown wherever it is."""


class JournalEntry(TypedDict):
    """A result of durable code, or a wait of it."""

    name: str
    result: NotRequired[Json]
    wait: NotRequired[JournalWait | None]


class JournalWait(TypedDict):
    asked: str | None
    """What the code asked for when the wait was opened, in its SDK's words."""
    event: NotRequired[TakenEvent | None]
    """Of an event: which one, and when it was received."""
    kind: Literal["DELAY", "WEBHOOK", "SIGNAL", "EVENT", "APPROVAL", "CHILD", "PAUSE", "RETRY", "SCHEDULE", "CODE", "CAPACITY"]
    payload: Json
    status: Literal["PENDING", "COMPLETED", "TIMED_OUT", "CANCELLED"]
    waitpointId: str


class Key(TypedDict):
    """A key, without its secret."""

    createdAt: str
    expiresAt: str | None
    id: str
    lastUsedAt: str | None
    """Exact to a minute."""
    name: str
    prefix: str
    """The first characters of the secret."""
    revokedAt: str | None
    scopes: list[Literal["read", "deploy", "run", "worker", "approve", "admin"]]
    workspace: str


class KeyList(TypedDict):
    """A part of a list."""

    data: list[Key]
    nextCursor: str | None
    """Give it as `cursor` to get what follows; null at the end."""


class LimitAsk(TypedDict):
    """A limit that room is asked of."""

    id: str
    key: str
    """Empty where the limit has no keys."""
    name: str
    workflow: NotRequired[str | None]
    """The workflow of the limit; absent: all of the workspace that name it share it."""


class LimitDetail(TypedDict):
    """A limit: its keys, who has room, who waits, and what is set."""

    holders: list[LimitHolder]
    """Who has room, the longest first; at most 32 are named."""
    keys: list[LimitKey]
    """Keys that somebody has room under or waits for, those for which most wait first."""
    line: list[LimitWaiter]
    """Who waits, the next one first."""
    name: str
    settings: LimitSettings | None
    """What is set at run time; null: nothing."""
    workflow: str | None
    """Null: all workflows of the workspace that name it share it."""


class LimitEmptied(TypedDict):
    """How many were let in or cancelled."""

    done: int
    """Waits that ended."""
    more: bool
    """There are more: ask again."""
    refused: int
    """Waits that could not be ended: they ended otherwise meanwhile."""


class LimitHolder(TypedDict):
    """A run, or an attempt of one of its steps, that has room."""

    runId: str
    since: str
    stepName: str | None
    """Null: the run itself."""


class LimitKey(TypedDict):
    """One key of a limit."""

    defined: LimitRoom
    """What definitions say."""
    id: str
    key: str
    """Empty where the limit has no keys."""
    name: str
    nextAt: str | None
    """When the rate lets the next one begin; null: there is room, or somebody gives it back first."""
    oldest: str | None
    """Since when the longest waits, of those that come next; null if nobody waits."""
    paused: bool
    """Nobody is let in."""
    room: LimitRoom
    """What holds: what is set at run time, or else what definitions say."""
    used: int
    """How many have room."""
    waiting: int
    """How many wait for it."""
    workflow: str | None
    """The workflow whose runs share it; null: all of the workspace that name it."""


class LimitKeyList(TypedDict):
    """A part of a list."""

    data: list[LimitKey]
    nextCursor: str | None
    """Give it as `cursor` to get what follows; null at the end."""


class LimitKeySetting(TypedDict):
    """How many may have room or begin."""

    burst: int | None
    """How many may begin at once after a quiet time."""
    concurrency: int | None
    """How many may have room at the same time; null: any number."""
    key: str
    paused: bool
    """Nobody is let in."""
    perMs: int | None
    rate: int | None
    """How many may begin in the time of `perMs`; null: any number."""


class LimitRoom(TypedDict):
    """How many may have room or begin."""

    burst: int | None
    """How many may begin at once after a quiet time."""
    concurrency: int | None
    """How many may have room at the same time; null: any number."""
    perMs: int | None
    rate: int | None
    """How many may begin in the time of `perMs`; null: any number."""


class LimitSet(TypedDict):
    """A limit after something was set."""

    emptied: LimitEmptied | None
    """With `empty`: how many waits ended."""
    limit: LimitDetail


class LimitSetting(TypedDict):
    """How many may have room or begin."""

    burst: int | None
    """How many may begin at once after a quiet time."""
    concurrency: int | None
    """How many may have room at the same time; null: any number."""
    paused: bool
    """Nobody is let in."""
    perMs: int | None
    rate: int | None
    """How many may begin in the time of `perMs`; null: any number."""


class LimitSettings(TypedDict):
    """What is set for a limit at run time."""

    all: LimitSetting
    """For all keys."""
    changedAt: str
    changedBy: str
    keys: list[LimitKeySetting]
    """For single keys, which stand above those for all."""


class LimitWaiter(TypedDict):
    """A wait for room."""

    place: int
    """The place in line, from 1."""
    priority: int
    """0 to 9. A level counts as much as a minute of waiting."""
    runId: str
    since: str
    stepName: str | None
    """Null: the run itself."""
    waitpointId: str


class Link(TypedDict):
    """A resume URL."""

    confirmUrl: str
    """The URL of a page where a person confirms."""
    expiresAt: str | None
    """Null: with its waitpoint."""
    resumeUrl: str


class LinkSecret(TypedDict):
    """A secret that resume URLs are signed with, without what it is."""

    createdAt: str
    id: int
    signs: bool
    """New resume URLs are signed with it."""


class LinkSecretList(TypedDict):
    """A part of a list."""

    data: list[LinkSecret]
    nextCursor: str | None
    """Give it as `cursor` to get what follows; null at the end."""


class ListensForTime(TypedDict):
    type: Literal["time"]


class ListensForSignal(TypedDict):
    signalType: str
    type: Literal["signal"]


class ListensForEvent(TypedDict):
    eventId: str
    forgottenBefore: NotRequired[str | None]
    """Events received between `since` and this may have been forgotten before the wait began."""
    match: NotRequired[str | None]
    since: str
    """Events received before this are not looked at."""
    type: Literal["event"]


class ListensForCall(TypedDict):
    allowGet: bool
    type: Literal["call"]


class ListensForApproval(TypedDict):
    type: Literal["approval"]


class ListensForChild(TypedDict):
    runId: str
    type: Literal["child"]


class ListensForAttempt(TypedDict):
    """The clock: a durable call of a handler is made again."""

    attempt: int
    """The attempt that failed, from 1."""
    call: str
    error: Failure
    """Why it failed."""
    maxAttempts: int
    """All that the call may have."""
    type: Literal["attempt"]


class ListensForCode(TypedDict):
    """A worker whose code fits what the handler has recorded."""

    builds: list[str]
    """The builds that do not fit, the last one last. The empty one did not say which it is."""
    found: str
    """What the code came to instead."""
    handler: str
    pinnedTo: NotRequired[str | None]
    """The only build that may have the task, which does not fit: an operator decides."""
    recorded: str
    """What the journal holds."""
    type: Literal["code"]


class ListensForCapacity(TypedDict):
    """Room under limits, all of it at once."""

    limits: list[LimitAsk]
    priority: int
    """0 to 9. A level counts as much as a minute of waiting."""
    type: Literal["capacity"]
    waitsUnder: NotRequired[str | None]
    """The limit in whose line it stands: one that had no room."""


class ListensForStarts(TypedDict):
    """That no more starts come for a run that collects them, by the `debounce` of its workflow."""

    collect: bool
    """Whether the run gets the inputs of all of them."""
    key: str
    """What the starts have in common; empty where all of the workflow belong together."""
    most: int
    """The run begins at once when it has so many."""
    starts: int
    """How many starts there are so far."""
    type: Literal["starts"]
    until: str
    """The run begins then at the latest."""


class LogLine(TypedDict):
    """A line of a run's log."""

    level: NotRequired[Literal["debug", "info", "warn", "error"]]
    """`info` if absent."""
    message: str


class MadeKey(TypedDict):
    """A new key, with its secret."""

    createdAt: str
    expiresAt: str | None
    id: str
    lastUsedAt: str | None
    """Exact to a minute."""
    name: str
    prefix: str
    """The first characters of the secret."""
    revokedAt: str | None
    scopes: list[Literal["read", "deploy", "run", "worker", "approve", "admin"]]
    secret: str
    """Shown once."""
    workspace: str


class MadeWebhook(TypedDict):
    """A webhook, with a secret that was just made."""

    createdAt: str
    description: str | None
    disabledAt: str | None
    disabledReason: str | None
    """Why it was disabled: by whom, or because nothing reached it for days."""
    events: list[Literal["workflow.completed", "workflow.failed", "workflow.cancelled", "approval.requested", "approval.decided", "wait.overdue"]]
    failingSince: str | None
    """Since when every attempt has failed."""
    id: str
    secret: str
    """Shown once."""
    status: WebhookStatus
    url: str


class MakeLink(TypedDict):
    expiresIn: NotRequired[str | None]
    """`expiresInMs` as text: `2d 4h`."""
    expiresInMs: NotRequired[int | None]
    """How long the link is valid; as long as its waitpoint if absent."""
    recipient: NotRequired[str | None]
    """Whom it is for; anyone if absent."""


class Misfit(TypedDict):
    """One reason why a run does not fit another version."""

    code: str
    """Stable; see `docs/reference/definitions.md`."""
    reason: str
    step: str | None
    """The step it is about."""


class MoveClock(TypedDict):
    advance: NotRequired[str | None]
    """`advanceMs` as text: `2d 4h`."""
    advanceMs: NotRequired[int | None]
    """At most by this time."""
    to: NotRequired[str | None]
    """At most to this instant."""


class MoveRun(TypedDict):
    dryRun: NotRequired[bool]
    """Only say whether it fits."""
    version: str
    """The version to go on with."""


MovedRun = TypedDict(
    "MovedRun",
    {
        "changed": "bool",
        "dryRun": "bool",
        "from": "str",
        "id": "str",
        "status": "Literal['PENDING', 'RUNNING', 'WAITING', 'PAUSED', 'COMPLETED', 'FAILED', 'CANCELLED']",
        "to": "str",
    },
)


class NewJournalEntry(TypedDict):
    """A named result of durable code."""

    name: str
    result: NotRequired[Json]


class NewKey(TypedDict):
    expiresAt: NotRequired[str | None]
    """Refused from then on."""
    name: str
    """Whose it is: what histories say, and what a step's `approvers` name."""
    scopes: list[Literal["read", "deploy", "run", "worker", "approve", "admin"]]
    workspace: NotRequired[str | None]
    """Only an admin of the default workspace may make keys for another."""


class NewSchedule(TypedDict):
    """What is started, and when."""

    catchUp: NotRequired[Literal["none", "last", "all"]]
    """What to do about occurrences that were missed; `last` if absent."""
    cron: NotRequired[str | None]
    """A cron line: `0 9 * * 1-5`."""
    definition: str
    """The workflow's name."""
    every: NotRequired[str | None]
    """In place of a cron line: `15m`."""
    everyMs: NotRequired[int | None]
    """`every` as a number of milliseconds."""
    input: NotRequired[Json]
    """Null if absent."""
    name: str
    """No two in a workspace have the same."""
    overlap: NotRequired[Literal["skip", "queue", "cancelPrevious", "allow"]]
    """What to do when the run before has not ended; `skip` if absent."""
    tags: NotRequired[list[str]]
    timezone: NotRequired[str | None]
    """Of the cron line; UTC if absent."""
    version: NotRequired[str | None]
    """The newest at each occurrence, if absent."""


class NewWebhook(TypedDict):
    description: NotRequired[str | None]
    events: list[Literal["workflow.completed", "workflow.failed", "workflow.cancelled", "approval.requested", "approval.decided", "wait.overdue"]]
    """What to tell."""
    url: str
    """Where to send: `http` or `https`."""


class NewWorkspace(TypedDict):
    name: str


class Overview(TypedDict):
    """How many there are, what has waited longest, and how it goes."""

    activity: Activity
    """What the server did in the last hour."""
    now: str
    """The server's clock."""
    oldest: list[Waitpoint]
    """The oldest runs that wait, each with its oldest wait."""
    overdue: Counted
    """Open waits whose instant has passed."""
    runs: list[RunCount]
    waits: list[WaitCount]
    """Open waits."""


class PinRun(TypedDict):
    build: str
    handler: NotRequired[str | None]
    """Only tasks of this handler; all if absent."""


class PollTasks(TypedDict):
    buildId: NotRequired[str | None]
    """Which code the worker has. Tasks whose journal it does not fit wait for a worker with another one."""
    handlers: list[str]
    """The names of the handlers that this worker has."""
    leaseMs: NotRequired[int | None]
    """How long the worker has a task before it must report; 60000 if absent. A step's `heartbeatMs` comes first."""
    maxTasks: NotRequired[int | None]
    """Tasks at most; 1 if absent."""
    waitMs: NotRequired[int | None]
    """How long to wait for a task; 30000 if absent."""
    workerId: str
    """Who works; shown in histories and at `/workers`."""


class PolledTasks(TypedDict):
    tasks: list[Task]


class Problem(TypedDict):
    """The body of an answer that says no (`application/problem+json`)."""

    code: str
    """Stable; what a program may rely on."""
    current: NotRequired[Json]
    """The state that stands against the request."""
    detail: str
    """What was wrong, where, and what would be right."""
    outcome: NotRequired[Json]
    """What a waitpoint that is resolved already came to."""
    pointer: NotRequired[str | None]
    """The place in the body, as a JSON pointer."""
    problems: NotRequired[list[Finding]]
    """Everything that was wrong with the body or the query, each with its place."""
    status: int
    title: str
    type: str
    """Where the code is explained."""
    warnings: NotRequired[list[Finding]]
    """What is doubtful about a definition."""


class Quotas(TypedDict):
    """What a workspace may have; an absent figure is that of the server, or none."""

    calls: NotRequired[int | None]
    """Calls of one kind (`http` steps, models, handlers at URLs) under way at the same time."""
    openRuns: NotRequired[int | None]
    """Runs that have not ended, when one more is started."""
    schedules: NotRequired[int | None]
    share: NotRequired[int | None]
    """How many turns in a row the workspace has where several wait: for calls, reads, requests and tasks of the engine. 1 if absent."""
    startsPerSecond: NotRequired[int | None]
    """Runs started by requests in a second; as many may be started at once."""
    storedBytes: NotRequired[int | None]
    """Bytes that histories and events take. With more, no run is started and no event is taken; runs that are under way go on."""
    webhooks: NotRequired[int | None]


class HistoryRecordList(TypedDict):
    """A part of a list."""

    data: list[HistoryRecord]
    nextCursor: str | None
    """Give it as `cursor` to get what follows; null at the end."""


class RefusedRun(TypedDict):
    problem: Problem
    runId: str


class RefusedStart(TypedDict):
    """A start on an event that was refused."""

    at: str
    code: str
    detail: str
    event: str


class RefusedWaitpoint(TypedDict):
    problem: Problem
    waitpointId: str


class Replayed(TypedDict):
    replayed: int
    """How many are sent again."""


class ReportDone(TypedDict):
    """Either recorded, or why not."""

    ok: bool
    problem: NotRequired[Problem | None]
    reported: NotRequired[Reported | None]


class ReportTasks(TypedDict):
    reports: list[TaskReport]


class Reported(TypedDict):
    """What became of a report."""

    deadline: NotRequired[str | None]
    """After a heartbeat: when the attempt's time is over, if it has a limit."""
    waitpointId: NotRequired[str | None]
    """After a pause: the waitpoint."""


class ReportedTasks(TypedDict):
    results: list[ReportDone]
    """In the order of the reports."""


class RescheduleWaitpoint(TypedDict):
    resumeAt: str


class ResponseToSend(TypedDict):
    """A reply: what a `respond` step would say."""

    body: NotRequired[Json]
    headers: NotRequired[dict[str, str] | None]
    status: NotRequired[int | None]
    """200 if absent."""


class Resumed(TypedDict):
    """A wait that was ended."""

    flowRunId: NotRequired[str | None]
    """The `runId`."""
    resumeDateTime: NotRequired[str | None]
    """The `resumeAt`."""
    runId: str
    status: Literal["PENDING", "COMPLETED", "TIMED_OUT", "CANCELLED"]
    """PENDING where an approval needs more votes."""
    type: NotRequired[Literal["DELAY", "WEBHOOK", "SIGNAL", "EVENT", "APPROVAL", "CHILD", "PAUSE", "RETRY", "SCHEDULE", "CODE", "CAPACITY"]]
    """The `kind`."""
    waitpointId: str


class ResumedBy(TypedDict):
    """A wait of a handler that is over."""

    kind: Literal["DELAY", "WEBHOOK", "SIGNAL", "EVENT", "APPROVAL", "CHILD", "PAUSE", "RETRY", "SCHEDULE", "CODE", "CAPACITY"]
    name: str
    status: Literal["PENDING", "COMPLETED", "TIMED_OUT", "CANCELLED"]
    waitpointId: str


class RotateSecret(TypedDict):
    overlapMs: NotRequired[int | None]
    """How long the secret before signs beside the new one; a day if absent."""


class Run(TypedDict):
    """A run, with its steps and what it waits for."""

    createdAt: str
    createdBy: str
    deadline: NotRequired[str | None]
    """When the whole run must be over."""
    definition: DefinitionRef
    endedAt: NotRequired[str | None]
    error: NotRequired[Failure | None]
    """Of a failed run."""
    handledBy: NotRequired[str | None]
    """The run that calls the handler of `onFailure` or `onCancel`, where the workflow has one and this run has ended so."""
    held: NotRequired[Held | None]
    """Nothing is decided about it until it is released."""
    id: str
    input: Json
    output: NotRequired[Json]
    """Of a completed run."""
    parentRunId: NotRequired[str | None]
    """The run that started this one, or sent the event that it was started on."""
    pausing: bool
    """A pause is asked for, or in effect."""
    startedAt: NotRequired[str | None]
    startedOn: NotRequired[StartedOn | None]
    """The event that it was started on, by the `startOn` of its workflow."""
    state: dict[str, Json]
    status: Literal["PENDING", "RUNNING", "WAITING", "PAUSED", "COMPLETED", "FAILED", "CANCELLED"]
    steps: list[Step]
    tags: list[str]
    traceparent: NotRequired[str | None]
    """The trace of the request that started it."""
    version: int
    """Records in its history."""
    waitingFor: list[WaitingFor]
    """Every open wait, the oldest first; then the tasks that nobody does."""


class RunCost(TypedDict):
    budgetMicros: int | None
    """What the run may spend, if its workflow says so."""
    byStep: list[StepCost]
    runId: str
    total: Spent


class RunCount(TypedDict):
    count: int
    status: Literal["PENDING", "RUNNING", "WAITING", "PAUSED", "COMPLETED", "FAILED", "CANCELLED"]


class RunFilter(TypedDict):
    """What narrows a list of runs."""

    createdBefore: NotRequired[str | None]
    """Before this instant."""
    createdFrom: NotRequired[str | None]
    """At or after this instant."""
    definition: NotRequired[str | None]
    """The workflow's name."""
    eventId: NotRequired[str | None]
    """Runs with an open wait for this event id."""
    signalType: NotRequired[str | None]
    """Runs with an open wait for this signal type."""
    status: NotRequired[list[Literal["PENDING", "RUNNING", "WAITING", "PAUSED", "COMPLETED", "FAILED", "CANCELLED"]]]
    """Separated by commas."""
    tag: NotRequired[str | None]
    version: NotRequired[str | None]
    waitsFor: NotRequired[Literal["DELAY", "WEBHOOK", "SIGNAL", "EVENT", "APPROVAL", "CHILD", "PAUSE", "RETRY", "SCHEDULE", "CODE", "CAPACITY"]]
    """Runs with an open wait of this kind."""


class RunSummary(TypedDict):
    """A run in a list."""

    createdAt: str
    definition: DefinitionRef
    id: str
    status: Literal["PENDING", "RUNNING", "WAITING", "PAUSED", "COMPLETED", "FAILED", "CANCELLED"]
    tags: list[str]
    updatedAt: str
    version: int


class RunSummaryList(TypedDict):
    """A part of a list."""

    data: list[RunSummary]
    nextCursor: str | None
    """Give it as `cursor` to get what follows; null at the end."""


class Schedule(TypedDict):
    catchUp: Literal["none", "last", "all"]
    createdAt: str
    createdBy: str
    cron: NotRequired[str | None]
    definition: str
    """The workflow's name."""
    everyMs: NotRequired[int | None]
    id: str
    input: Json
    lastRunId: str | None
    """The run it started last."""
    name: str
    nextAt: str | None
    """When it comes next; null while it is paused."""
    overlap: Literal["skip", "queue", "cancelPrevious", "allow"]
    paused: bool
    queued: int
    """Occurrences that wait for that run to end."""
    recent: list[Waitpoint]
    """What became of the last occurrences, the newest first."""
    tags: list[str]
    timezone: NotRequired[str | None]
    updatedAt: str
    version: str | None
    """Null: the newest at each occurrence."""
    waitpointId: str | None
    """The wait for that; steer it like any other."""


class ScheduleList(TypedDict):
    """A part of a list."""

    data: list[Schedule]
    nextCursor: str | None
    """Give it as `cursor` to get what follows; null at the end."""


class SendEvent(TypedDict):
    delivery: NotRequired[Literal["all", "one"]]
    """To everyone who waits, or only to the one who has waited longest."""
    dryRun: NotRequired[bool]
    """Only say whom it would wake, and what it would start."""
    eventData: NotRequired[Json]
    """Null if absent."""
    eventId: str
    idempotencyKey: NotRequired[str | None]
    """As the header `Idempotency-Key`."""
    leaseToken: NotRequired[str | None]
    """Of the task whose handler sends it. The event is sent only while the task is leased to it, and stands in the history of its run; the same request again under its idempotency key is answered later, too."""
    workflowRunId: NotRequired[str | None]
    """Only to this run."""


class SendSignal(TypedDict):
    idempotencyKey: NotRequired[str | None]
    """As the header `Idempotency-Key`."""
    payload: NotRequired[Json]
    """Null if absent."""
    signalType: str


class Session(TypedDict):
    """Who asks."""

    caller: Caller | None
    """Null where a key is needed, and none was given."""
    development: bool
    """The server was started by `abide dev`: workflows change without a new version, and waits may be skipped."""
    keysNeeded: bool
    """Without a key nothing is shown."""
    paused: bool
    """The server was started with `--paused`: it shows what there is and changes nothing."""
    signedIn: bool
    """By a cookie."""
    testClock: bool
    """Time stands still until `POST /test/clock` moves it."""


class SetLimit(TypedDict):
    burst: NotRequired[int | None]
    """With `rate`: how many may begin at once after a quiet time; 1 if absent."""
    concurrency: NotRequired[int | None]
    """How many may have room at the same time; null: as the definition says."""
    create: NotRequired[bool | None]
    """Also if no workflow has a limit of this name that is shared: one that only durable code names, or that is to come. Without it, a name that nobody knows is refused."""
    empty: NotRequired[Literal["letIn", "cancel"]]
    """Ends the waits of those who stand in line: `letIn` past the line, or `cancel` (a run is cancelled, a step fails)."""
    key: NotRequired[str | None]
    """Only this key; absent: all of them."""
    paused: NotRequired[bool | None]
    """Nobody is let in, or somebody is again."""
    per: NotRequired[str | None]
    """With `rate`: the time that it is about, such as `1m`."""
    perMs: NotRequired[int | None]
    """`per` as a number of milliseconds."""
    rate: NotRequired[int | None]
    """How many may begin in the time of `per`; null: as the definition says."""
    workflow: NotRequired[str | None]
    """The workflow of the limit; absent: all of the workspace that name it."""


class SignIn(TypedDict):
    key: str
    """An API key: `abk_…`."""


class Signalled(TypedDict):
    """What became of a signal."""

    runId: str
    takenBy: str | None
    """The wait that took it at once; null: it is kept for the next one."""


class SigningKey(TypedDict):
    keys: list[str]
    """`whsec_…`, as Standard Webhooks."""
    workspace: str
    """The workspace's id."""


class SkipWaitpoint(TypedDict):
    output: NotRequired[Json]
    """The step's output; null if absent."""
    reason: NotRequired[str | None]
    """Stands in the history."""


class Spent(TypedDict):
    """Tokens and money."""

    cachedInputTokens: int
    """Input tokens that a provider had seen before, a part of all input tokens."""
    calls: int
    """Failed ones too."""
    costMicros: int
    """In millionths of the currency of the price table."""
    inputTokens: int
    outputTokens: int
    unpricedCalls: int
    """Calls that used tokens of a model without a price."""


class StartProblem(TypedDict):
    """Why an event started no run."""

    code: str
    """Stable; what a program may rely on."""
    detail: str


class StartResult(TypedDict):
    """What became of one of many starts."""

    id: NotRequired[str | None]
    """The run, unless the start was refused."""
    index: int
    """The place of the start in the request, from 0."""
    outcome: StartOutcome
    problem: NotRequired[Problem | None]
    """Why the start was refused. Its places are in the start, not in the whole request."""
    url: NotRequired[str | None]
    """Where the run can be seen."""


class StartRun(TypedDict):
    definitionId: NotRequired[str | None]
    """Which version of which workflow; or give `name`."""
    idempotencyKey: NotRequired[str | None]
    """As the header `Idempotency-Key`."""
    input: NotRequired[Json]
    """Null if absent."""
    name: NotRequired[str | None]
    """The workflow's name; its newest version, unless `version` is given."""
    runAt: NotRequired[str | None]
    """Begin then, not now. A past instant begins now."""
    tags: NotRequired[list[str]]
    version: NotRequired[str | None]


class StartRuns(TypedDict):
    """The body, as it is documented."""

    runs: list[StartRun]


class StartedOn(TypedDict):
    """The event that a run was started on."""

    event: str
    """The event's own number."""
    eventId: str


class StartedOnEvent(TypedDict):
    """A workflow that an event starts."""

    eventId: str
    lastRefused: NotRequired[RefusedStart | None]
    """The last start that was refused."""
    match: NotRequired[str | None]
    """The condition that an event must satisfy."""
    version: str
    """The newest version of the workflow."""
    workflow: str
    """The workflow's name."""


class StartedOnEventList(TypedDict):
    """A part of a list."""

    data: list[StartedOnEvent]
    nextCursor: str | None
    """Give it as `cursor` to get what follows; null at the end."""


class StartedRun(TypedDict):
    """A run that was started."""

    collected: NotRequired[bool]
    """Whether the start was added to a run that collects those of its key, by the `debounce` of its workflow; absent where the run is the start's own."""
    id: str
    skipped: NotRequired[bool]
    """Whether the run was cancelled at once, because there was no room under a limit whose `whenFull` is `skip`; absent where it was not."""
    url: str
    """Where the run can be seen."""


class StartedRuns(TypedDict):
    """What became of many starts."""

    collected: int
    """How many starts were added to runs that collect those of their key, by the `debounce` of the workflow."""
    created: int
    """How many runs were started."""
    refused: int
    """How many starts were refused."""
    repeated: int
    """How many starts were carried out before, under the same idempotency key."""
    results: list[StartResult]
    """In the order of the starts."""
    skipped: int
    """How many runs were cancelled at once, because there was no room under a limit whose `whenFull` is `skip`."""


class Step(TypedDict):
    attempt: int
    """Of this visit, from 1; 0 before the first."""
    checkpoint: NotRequired[Json]
    endedAt: NotRequired[str | None]
    error: NotRequired[Failure | None]
    event: NotRequired[TakenEvent | None]
    """Of a `wait_for_event`: the event whose data is the output."""
    items: NotRequired[list[Step]]
    """Of a map: its items so far."""
    journal: NotRequired[list[StepCall]]
    """The durable calls of its handler, in the order in which it came to them; the last 100. Of a step that waits for several things, its waits in the order of their names."""
    journalOmitted: NotRequired[int]
    """Durable calls before those of `journal`."""
    name: str
    """An item of a map ends in its index: `send[3]`."""
    output: NotRequired[Json]
    previousError: NotRequired[Failure | None]
    """Of a step that has gone on since: why an earlier attempt of this visit failed."""
    startedAt: NotRequired[str | None]
    status: Literal["PENDING", "RUNNING", "WAITING", "COMPLETED", "FAILED", "SKIPPED", "CANCELLED"]
    type: str
    visit: int
    """More than 1 when a failed run was retried."""
    waits: NotRequired[list[StepWait]]
    """The waits of this visit by name."""
    wakeAt: NotRequired[str | None]
    """Of a step that sleeps, or has slept: until when."""
    worker: NotRequired[str | None]
    """The worker that has it, or had it last."""


class StepCall(TypedDict):
    """A durable call of a handler: what it recorded, or what it waits for."""

    attempts: int
    """Attempts so far."""
    endedAt: NotRequired[str | None]
    error: NotRequired[str | None]
    """Why it failed, or why its last attempt did."""
    kind: Literal["RUN", "DELAY", "WEBHOOK", "SIGNAL", "EVENT", "APPROVAL", "CHILD", "PAUSE", "RETRY", "SCHEDULE", "CODE", "CAPACITY"]
    """`RUN`, or the kind of its wait."""
    name: str
    startedAt: NotRequired[str | None]
    """When it began. Of a RUN: the earliest instant at which its last attempt can have begun."""
    status: Literal["PENDING", "COMPLETED", "FAILED", "TIMED_OUT", "CANCELLED"]
    """PENDING: it waits, or is to be made again."""
    until: NotRequired[str | None]
    """When time ends it, its deadline, or when it is made again."""
    waitpointId: NotRequired[str | None]


class StepCost(TypedDict):
    """Tokens and money."""

    cachedInputTokens: int
    """Input tokens that a provider had seen before, a part of all input tokens."""
    calls: int
    """Failed ones too."""
    costMicros: int
    """In millionths of the currency of the price table."""
    inputTokens: int
    model: str
    outputTokens: int
    stepName: str
    unpricedCalls: int
    """Calls that used tokens of a model without a price."""


class StepWait(TypedDict):
    name: str
    waitpointId: str


class TakenEvent(TypedDict):
    """The event that a wait took. One that was received long before the wait began was found by looking back."""

    id: str
    receivedAt: str


class Task(TypedDict):
    attempt: int
    """Of this visit, from 1."""
    checkpoint: Json
    """What an earlier execution left, or null."""
    config: Json
    deadline: str | None
    """When the attempt's time is over, if it has a limit."""
    executionType: Literal["BEGIN", "RESUME"]
    """`RESUME` when a wait of the handler is over, `BEGIN` before that."""
    handler: str
    heartbeatMs: int | None
    """How often a heartbeat is expected, in milliseconds."""
    id: str
    input: Json
    journal: list[JournalEntry]
    """What earlier executions recorded, in the order it was."""
    leaseToken: str
    """Every report carries it. Opaque."""
    leasedUntil: str
    """Until when the worker has it, unless it sends a heartbeat."""
    resumePayload: Json
    """What ended it: `{body, headers, queryParams}` of a call, an event's data, …; of a delay, the same with nothing in it."""
    resumedBy: ResumedBy | None
    """The wait that ended last; null before the first."""
    runId: str
    state: Json
    stepName: str
    traceparent: str | None
    """The trace of the run, to go on with in the worker; null if there is none."""


class TaskJournal(TypedDict):
    """A task that is under way, with all that its handler has recorded: what new code can be tried on."""

    attempt: int
    """Of this visit, from 1."""
    checkpoint: Json
    """What an earlier execution left, or null."""
    config: Json
    handler: str
    input: Json
    journal: list[JournalEntry]
    """What earlier executions recorded, in the order it was; waits that are open among it."""
    runId: str
    state: Json
    step: str
    """The step's name; an item's of a map ends in its index."""
    version: str
    workflow: str
    """The name of its definition, and the version."""


class TaskJournalList(TypedDict):
    """A part of a list."""

    data: list[TaskJournal]
    nextCursor: str | None
    """Give it as `cursor` to get what follows; null at the end."""


class TaskReportComplete(TypedDict):
    leaseToken: str
    output: NotRequired[Json]
    """Null if absent."""
    stateUpdates: NotRequired[dict[str, Json] | None]
    """Merged into `state`, or stored under the step's `saveAs`."""
    type: Literal["complete"]


class TaskReportFail(TypedDict):
    code: NotRequired[str | None]
    """Your own; `TASK_FAILED` if absent."""
    detail: NotRequired[FailureDetail | None]
    """Where in the handler it came from."""
    leaseToken: str
    message: str
    mismatch: NotRequired[CodeMismatch | None]
    """The code does not fit what the handler has recorded. The step waits for a worker with another build, unless its `onCodeChange` says that it fails."""
    retryAfter: NotRequired[str | None]
    """`retryAfterMs` as text: `2d 4h`."""
    retryAfterMs: NotRequired[int | None]
    """Try again after this time, instead of the step's back-off."""
    retryable: NotRequired[bool | None]
    """Whether another attempt may help; true if absent."""
    type: Literal["fail"]


class TaskReportPause(TypedDict):
    checkpoint: NotRequired[Json]
    """Handed back with the task. An earlier one stays when this is absent."""
    duration: NotRequired[str | None]
    """`durationMs` as text: `2d 4h`."""
    durationMs: NotRequired[int | None]
    leaseToken: str
    name: str
    """Of the pause; once per name and visit of the step."""
    type: Literal["pause"]


class TaskReportSuspend(TypedDict):
    cancels: NotRequired[list[str]]
    """Names of waits that the code has no use for any more; those that are still open are cancelled."""
    checkpoint: NotRequired[Json]
    """Handed back with the task. An earlier one stays when this is absent."""
    entries: NotRequired[list[NewJournalEntry]]
    """Results that the journal does not hold yet."""
    leaseToken: str
    type: Literal["suspend"]
    waits: list[TaskWait]
    """What it waits for. A name that has a waitpoint already is waited for as it is."""
    wake: NotRequired[Literal["all", "any", "each"]]
    """When it goes on: when `all` have ended (if absent), `any` (the others are cancelled), or `each` time one ends."""


class TaskReportHeartbeat(TypedDict):
    cancels: NotRequired[list[str]]
    """Names of waits that the code has no use for any more; those that are still open are cancelled."""
    checkpoint: NotRequired[Json]
    """Handed back with the task when it is handed out again."""
    entries: NotRequired[list[NewJournalEntry]]
    """Results that the journal does not hold yet."""
    leaseToken: str
    type: Literal["heartbeat"]


class TaskReportLog(TypedDict):
    """Lines for the run's log."""

    leaseToken: str
    lines: list[LogLine]
    type: Literal["log"]


class TaskReportRelease(TypedDict):
    leaseToken: str
    type: Literal["release"]


class TaskWaitSleep(TypedDict):
    asked: NotRequired[str | None]
    """What the code asks for, in its own words. A recorded wait answers only code that asks the same."""
    duration: NotRequired[str | None]
    """`durationMs` as text: `2d 4h`."""
    durationMs: NotRequired[int | None]
    name: str
    type: Literal["sleep"]


class TaskWaitUntil(TypedDict):
    asked: NotRequired[str | None]
    """What the code asks for, in its own words. A recorded wait answers only code that asks the same."""
    at: str
    """A past instant is over at once."""
    name: str
    type: Literal["until"]


class TaskWaitSignal(TypedDict):
    asked: NotRequired[str | None]
    """What the code asks for, in its own words. A recorded wait answers only code that asks the same."""
    name: str
    signalType: str
    timeout: NotRequired[str | None]
    timeoutMs: NotRequired[int | None]
    type: Literal["signal"]


class TaskWaitEvent(TypedDict):
    asked: NotRequired[str | None]
    """What the code asks for, in its own words. A recorded wait answers only code that asks the same."""
    eventId: str
    lookback: NotRequired[str | None]
    lookbackMs: NotRequired[int | None]
    """How far back to look for events; to the run's creation if absent."""
    match: NotRequired[str | None]
    """An expression that the event must satisfy."""
    name: str
    timeout: NotRequired[str | None]
    timeoutMs: NotRequired[int | None]
    type: Literal["event"]
    where: NotRequired[dict[str, Json]]
    """What fields of the event must be, by their paths: `{"order.id": 7}`."""


class TaskWaitWebhook(TypedDict):
    """A waitpoint with a resume URL, created before or now."""

    allowGet: NotRequired[bool]
    asked: NotRequired[str | None]
    """What the code asks for, in its own words. A recorded wait answers only code that asks the same."""
    name: str
    timeout: NotRequired[str | None]
    timeoutMs: NotRequired[int | None]
    type: Literal["webhook"]


class TaskWaitWaitpoint(TypedDict):
    """A waitpoint of this name that was made with `POST /waitpoints`, whatever ends it."""

    name: str
    type: Literal["waitpoint"]


class TaskWaitRetry(TypedDict):
    """The back-off of a durable call that failed and is made again."""

    asked: NotRequired[str | None]
    """What the code asks for, in its own words. A recorded wait answers only code that asks the same."""
    attempt: int
    """The attempt that failed, from 1."""
    backoffMs: NotRequired[int | None]
    """The initial back-off, drawn between zero and this (full jitter); 1000 if absent."""
    backoffMultiplier: NotRequired[float | None]
    """What it is multiplied with after each attempt; 2 if absent."""
    call: str
    """The durable call's name."""
    code: NotRequired[str | None]
    """Your own; `TASK_FAILED` if absent."""
    maxAttempts: int
    """All that the call may have."""
    maxBackoffMs: NotRequired[int | None]
    """The longest back-off; 300000 if absent."""
    message: str
    """Why the attempt failed."""
    name: str
    """Of the wait: each attempt of the call has one."""
    retryAfter: NotRequired[str | None]
    """`retryAfterMs` as text: `2d 4h`."""
    retryAfterMs: NotRequired[int | None]
    """Try again after this time, instead of the back-off."""
    type: Literal["retry"]


class TaskWaitCapacity(TypedDict):
    """Room under a limit, for the durable call that is made then. It is given back with the record of the call's result."""

    asked: NotRequired[str | None]
    """What the code asks for, in its own words. A recorded wait answers only code that asks the same."""
    call: str
    """The durable call's name."""
    limit: CallLimit
    name: str
    timeout: NotRequired[str | None]
    timeoutMs: NotRequired[int | None]
    type: Literal["capacity"]


class TaskWaitApproval(TypedDict):
    approvers: NotRequired[list[str]]
    """Anyone with the scope `approve` if absent."""
    asked: NotRequired[str | None]
    """What the code asks for, in its own words. A recorded wait answers only code that asks the same."""
    content: NotRequired[Json]
    contentSchema: NotRequired[Json]
    """A JSON Schema that edited content must satisfy."""
    name: str
    prompt: NotRequired[str | None]
    quorum: NotRequired[int | None]
    """Approvals that are needed; 1 if absent."""
    timeout: NotRequired[str | None]
    timeoutMs: NotRequired[int | None]
    type: Literal["approval"]


class TaskWaitChild(TypedDict):
    """A run of another workflow, started with the wait. Its outcome ends it: `{"status": "COMPLETED", "output": …}`, `{"status": "FAILED", "error": …}` or `{"status": "CANCELLED"}`; if the wait is cancelled, so is the run."""

    asked: NotRequired[str | None]
    """What the code asks for, in its own words. A recorded wait answers only code that asks the same."""
    detached: NotRequired[bool]
    """The wait is over when the run is started, with `{"status": "STARTED", "runId": …}`; the run goes on by itself."""
    input: NotRequired[Json]
    name: str
    timeout: NotRequired[str | None]
    timeoutMs: NotRequired[int | None]
    type: Literal["child"]
    version: NotRequired[str | None]
    """The newest if absent."""
    workflow: str
    """The name of the workflow."""


class TaskWaitHttp(TypedDict):
    """A call that the engine makes; no worker is held meanwhile. It is a run of its own, and its outcome ends the wait as that of a `child` does: the output is `{status, headers, body}`."""

    asked: NotRequired[str | None]
    """What the code asks for, in its own words. A recorded wait answers only code that asks the same."""
    body: NotRequired[Json]
    """JSON, or text when it is a string; no body if absent."""
    failOn: NotRequired[list[StatusPattern] | None]
    """Statuses that fail an attempt, such as `4xx`, `5xx` or `404`; both classes if absent."""
    headers: NotRequired[dict[str, str]]
    method: NotRequired[Method | None]
    """`GET` if absent."""
    name: str
    retry: NotRequired[CallRetry | None]
    """How often the call is made; that of an `http` step if absent."""
    timeout: NotRequired[str | None]
    """`timeoutMs` as text: `30s`."""
    timeoutMs: NotRequired[int | None]
    """How long one attempt may take."""
    type: Literal["http"]
    url: str
    """Taken as it stands: nothing in a call is a template."""


class TestClock(TypedDict):
    nextTimer: str | None
    """When the next timer is due; null: time alone brings nothing more."""
    now: str
    target: NotRequired[str | None]
    """Where it was to go. It is there when `now` is."""
    tasks: int
    """Tasks that workers have, or could take. While there are some, time should not pass."""


class Triggered(TypedDict):
    """What a trigger came to."""

    outcome: str
    """`started`, or `skipped`, `queued`, `queueFull` as the overlap policy has it, or `failed`."""
    runId: str | None


class UnpinRun(TypedDict):
    handler: NotRequired[str | None]
    """Only tasks of this handler; all if absent."""


class Vote(TypedDict):
    by: str
    comment: NotRequired[str | None]
    decision: Literal["approve", "reject", "edit"]
    link: NotRequired[VoteLink | None]
    """The link it was decided by; absent for a key."""


class VoteLink(TypedDict):
    forAnyone: bool
    """The link is for nobody in particular."""
    madeBy: str
    """Who made the link."""


class WaitCount(TypedDict):
    count: int
    kind: Literal["DELAY", "WEBHOOK", "SIGNAL", "EVENT", "APPROVAL", "CHILD", "PAUSE", "RETRY", "SCHEDULE", "CODE", "CAPACITY"]
    more: bool
    """There are more than were counted."""


class Waiter(TypedDict):
    """A wait for an event."""

    match: NotRequired[str | None]
    """The condition that an event must satisfy."""
    resumeAt: str | None
    """The wait's deadline; null: none."""
    runId: str
    since: str
    waitpointId: str


class WaiterList(TypedDict):
    """A part of a list."""

    data: list[Waiter]
    nextCursor: str | None
    """Give it as `cursor` to get what follows; null at the end."""


class WaitingFor(TypedDict):
    """An open wait, or a task that nobody does, in words."""

    call: NotRequired[str | None]
    """The durable call of a handler that waits, or that is to be made again."""
    childRunId: NotRequired[str | None]
    """Of a CHILD: the run that is waited for."""
    kind: Literal["DELAY", "WEBHOOK", "SIGNAL", "EVENT", "APPROVAL", "CHILD", "PAUSE", "RETRY", "SCHEDULE", "CODE", "CAPACITY", "WORKER"]
    """Of a wait its kind; `WORKER` of a task whose handler no worker has."""
    sentence: str
    """What is waited for, in a sentence."""
    since: str
    stepName: NotRequired[str | None]
    """Absent: the run has not begun."""
    until: NotRequired[str | None]
    """When time ends it, or its deadline."""
    waitpointId: NotRequired[str | None]
    """Absent: a task that waits for a worker."""


class Waitpoint(TypedDict):
    """A pause of a run, or of a schedule."""

    approval: NotRequired[ApprovalState | None]
    """Of an APPROVAL: what is asked, and who has decided what."""
    call: NotRequired[str | None]
    """The durable call of a handler that waits, or that is to be made again; of a step that waits for several things, the name of this one. Absent where the step itself waits."""
    createdAt: str
    definition: NotRequired[DefinitionRef | None]
    """Of the run; absent for a schedule's wait."""
    event: NotRequired[TakenEvent | None]
    """Of an EVENT that has ended: the event that ended it."""
    flowRunId: NotRequired[str | None]
    """The `runId`."""
    id: str
    kind: Literal["DELAY", "WEBHOOK", "SIGNAL", "EVENT", "APPROVAL", "CHILD", "PAUSE", "RETRY", "SCHEDULE", "CODE", "CAPACITY"]
    links: NotRequired[list[ApprovalLink]]
    """Of an APPROVAL, in answers to `POST /waitpoints`: a link for everyone who may decide by one."""
    listensFor: ListensFor
    name: str
    """Unique in its step; those that begin with `$` are the engine's."""
    resolvedAt: NotRequired[str | None]
    resolvedBy: NotRequired[str | None]
    responseToSend: NotRequired[Json]
    resumeAt: str | None
    """When a DELAY, RETRY, PAUSE or SCHEDULE ends; the deadline of the others; null if there is none."""
    resumeDateTime: NotRequired[str | None]
    """The `resumeAt`."""
    resumePayload: NotRequired[Json]
    resumeUrl: NotRequired[str | None]
    """A URL that ends it without a key. Shown to callers that may end it themselves."""
    runId: str | None
    """Null: a schedule's wait."""
    scheduleId: NotRequired[str | None]
    """Of a SCHEDULE: whose next occurrence it is."""
    status: Literal["PENDING", "COMPLETED", "TIMED_OUT", "CANCELLED"]
    stepName: NotRequired[str | None]
    """Absent: the run's delayed start."""
    type: NotRequired[Literal["DELAY", "WEBHOOK", "SIGNAL", "EVENT", "APPROVAL", "CHILD", "PAUSE", "RETRY", "SCHEDULE", "CODE", "CAPACITY"]]
    """The `kind`."""


class WaitpointFilter(TypedDict):
    """What narrows a list of waitpoints."""

    dueAfter: NotRequired[str | None]
    """`resumeAt` at or after this instant."""
    dueBefore: NotRequired[str | None]
    """`resumeAt` before this instant."""
    eventId: NotRequired[str | None]
    """Waits for this event id."""
    kind: NotRequired[Literal["DELAY", "WEBHOOK", "SIGNAL", "EVENT", "APPROVAL", "CHILD", "PAUSE", "RETRY", "SCHEDULE", "CODE", "CAPACITY"]]
    runId: NotRequired[str | None]
    signalType: NotRequired[str | None]
    """Waits for this signal type."""
    status: NotRequired[Literal["PENDING", "COMPLETED", "TIMED_OUT", "CANCELLED"]]


class WaitpointList(TypedDict):
    """A part of a list."""

    data: list[Waitpoint]
    nextCursor: str | None
    """Give it as `cursor` to get what follows; null at the end."""


WakeUps = TypedDict(
    "WakeUps",
    {
        "buckets": "list[WakeUpsBucket]",
        "from": "str",
        "until": "str",
    },
)


WakeUpsBucket = TypedDict(
    "WakeUpsBucket",
    {
        "byTime": "int",
        "deadlines": "int",
        "from": "str",
        "more": "bool",
        "until": "str",
    },
)


class Webhook(TypedDict):
    """A webhook, without its secret."""

    createdAt: str
    description: str | None
    disabledAt: str | None
    disabledReason: str | None
    """Why it was disabled: by whom, or because nothing reached it for days."""
    events: list[Literal["workflow.completed", "workflow.failed", "workflow.cancelled", "approval.requested", "approval.decided", "wait.overdue"]]
    failingSince: str | None
    """Since when every attempt has failed."""
    id: str
    status: WebhookStatus
    url: str


class WebhookList(TypedDict):
    """A part of a list."""

    data: list[Webhook]
    nextCursor: str | None
    """Give it as `cursor` to get what follows; null at the end."""


class WholeDelivery(TypedDict):
    """One thing a webhook is told."""

    attempts: list[Attempt]
    """The last attempts, the oldest first."""
    body: Json
    """What is sent."""
    createdAt: str
    event: Literal["workflow.completed", "workflow.failed", "workflow.cancelled", "approval.requested", "approval.decided", "wait.overdue"]
    id: str
    """Sent as `webhook-id`, the same at every attempt."""
    nextAttemptAt: str | None
    """Null when nothing more is to be done, or while the webhook is disabled."""
    runId: str
    status: Literal["PENDING", "DELIVERED", "FAILED"]
    webhookId: str


class Woken(TypedDict):
    runId: str
    waitpointId: str


class Worker(TypedDict):
    buildId: NotRequired[str | None]
    """Which code it has, if it said so."""
    handlers: list[str]
    id: str
    seenAt: str
    tasks: int
    """Tasks it has now."""


class WorkerList(TypedDict):
    """A part of a list."""

    data: list[Worker]
    nextCursor: str | None
    """Give it as `cursor` to get what follows; null at the end."""


class Workflow(TypedDict):
    """A workflow: steps that run in the order written, or as a graph if any step says `after`."""

    budgetMicros: NotRequired[int | None]
    """What all calls to models of a run together may cost, in millionths of the currency of the price table."""
    cancelOn: NotRequired[list[WorkflowCancelOn] | None]
    """Events that cancel a run, wherever it is."""
    debounce: NotRequired[WorkflowDebounce | None]
    """Starts that come shortly after each other begin one run together."""
    defaultRetry: NotRequired[WorkflowRetry | None]
    """The retry policy of steps that have none of their own."""
    description: NotRequired[str | None]
    inputSchema: NotRequired[Json]
    """A JSON Schema that every run's input must satisfy."""
    keepHeaders: NotRequired[list[str] | None]
    """Headers of a call that starts a run by a trigger that its input keeps, beside those that always are: `content-type`, `user-agent`, `webhook-id`, `webhook-timestamp` and `webhook-signature`."""
    limits: NotRequired[list[WorkflowLimit] | None]
    """Limits of the runs of this workflow: how many may be at work at once, and how many may begin in a time."""
    mcp: NotRequired[WorkflowMcp | None]
    """Offers the workflow to clients of the Model Context Protocol."""
    name: str
    """What the workflow is called; runs are started by it."""
    onCancel: NotRequired[WorkflowHook | None]
    """Called when a run was cancelled, in a run of its own."""
    onCodeChange: NotRequired[WorkflowOnCodeChange | None]
    """What becomes of a handler whose code does not fit what it has recorded, for tasks that do not say so themselves."""
    onFailure: NotRequired[WorkflowHook | None]
    """Called when a run has failed, each time it does, in a run of its own."""
    output: NotRequired[Json]
    """What a completed run's `output` is; templates allowed. Without it, the output of the last step that has one."""
    pinToBuild: NotRequired[bool | None]
    """Whether a task stays with the build that took it first, for tasks that do not say so themselves."""
    priority: NotRequired[Json]
    """Which of several runs that wait for the same room gets it first: 0 (if absent) to 9, or a template that gives it."""
    restartOn: NotRequired[list[WorkflowRestartOn] | None]
    """Events that cancel a run and start another of the newest version in its place."""
    startOn: NotRequired[list[WorkflowStartOn] | None]
    """Events that start runs, each when it is received. Those of the newest version count."""
    steps: list[WorkflowStep]
    timeout: NotRequired[str | None]
    """`timeoutMs` as a duration, such as `2d 4h` or `PT30M`."""
    timeoutMs: NotRequired[int | None]
    """How long a whole run may take, in milliseconds; then it fails, wherever it is."""
    version: NotRequired[str]
    """Definitions are immutable: change the version to change a workflow. A run keeps the version it began with."""


class WorkflowCancelOn(TypedDict):
    """An event that cancels a run."""

    eventId: str
    """The event's id."""
    match: NotRequired[str | None]
    """An expression over `event`, the event's data, and the run's `input`; only events for which it is true count."""


class WorkflowDebounce(TypedDict):
    """One run for all starts of a key that come shortly after each other: it begins when no more have come for a while."""

    atMost: NotRequired[str | None]
    """`atMostMs` as a duration, such as `5m`."""
    atMostMs: NotRequired[int | None]
    """The run begins so long after the first start at the latest, in milliseconds; ten times `quiet` if absent."""
    collect: NotRequired[bool | None]
    """Whether the run gets the inputs of all starts, as `{"inputs": […]}`. If not, it gets that of the last one."""
    key: NotRequired[str | None]
    """Starts with the same value of this template over `input` belong together; without it, all of the workflow do."""
    quiet: NotRequired[str | None]
    """`quietMs` as a duration, such as `30s`."""
    quietMs: NotRequired[int | None]
    """The run begins when no start has come for so long, in milliseconds."""
    size: NotRequired[int | None]
    """With `collect`: the run begins at once when it has so many inputs."""


class WorkflowGuardrailSchemaValidation(TypedDict):
    """The answer satisfies `schema`, or the step's `outputSchema`."""

    onFailure: NotRequired[WorkflowOnGuardrail | None]
    schema: NotRequired[Json]
    type: Literal["schema_validation"]


class WorkflowGuardrailContentSafety(TypedDict):
    """The answer contains none of these words or patterns and, if a judge is named, that model finds it safe."""

    blocked: NotRequired[list[str] | None]
    judgeModel: NotRequired[str | None]
    onFailure: NotRequired[WorkflowOnGuardrail | None]
    type: Literal["content_safety"]


class WorkflowGuardrailConfidenceThreshold(TypedDict):
    """The number at `path` of a JSON answer is at least `minimum`."""

    minimum: float
    onFailure: NotRequired[WorkflowOnGuardrail | None]
    path: NotRequired[str | None]
    type: Literal["confidence_threshold"]


class WorkflowHook(TypedDict):
    """A handler that is called when a run has ended, with what became of it: `{run, input, state, error}`."""

    config: NotRequired[Json]
    """Settings for the handler; templates allowed, over the `input` that the handler gets."""
    handler: str
    """The handler's registered name. It may be durable code like any other."""
    retry: NotRequired[WorkflowRetry | None]
    """The `defaultRetry` of the workflow if absent."""
    timeout: NotRequired[str | None]
    """`timeoutMs` as a duration."""
    timeoutMs: NotRequired[int | None]
    """How long one attempt may work, in milliseconds; waiting does not count."""


class WorkflowLimit(TypedDict):
    """A limit: room for so many at once (`concurrency`), so many in a time (`rate`), or both. Who finds no room waits for it."""

    burst: NotRequired[int | None]
    """How many may begin at once after a quiet time; 1 if absent."""
    concurrency: NotRequired[int | None]
    """How many may have room at the same time, for each key."""
    holds: NotRequired[WorkflowHolds | None]
    """How long room is kept; `work` if absent."""
    key: NotRequired[str | None]
    """Each value of this template has room of its own, such as `{{ input.account }}`; without it, all share one."""
    name: str
    """What the limit is called. With `scope: workspace`, all workflows that name it share it."""
    onTimeout: NotRequired[WorkflowOnTimeout | None]
    """What happens then; `fail` if absent. A whole run can only fail."""
    per: NotRequired[str | None]
    """`perMs` as a duration, such as `1m`."""
    perMs: NotRequired[int | None]
    """The time that `rate` is about, in milliseconds."""
    rate: NotRequired[int | None]
    """How many may begin in the time of `per`, for each key. They are spaced evenly, but for a `burst`."""
    scope: NotRequired[WorkflowLimitScope | None]
    """`workflow` if absent."""
    timeout: NotRequired[str | None]
    """`timeoutMs` as a duration."""
    timeoutMs: NotRequired[int | None]
    """How long room is waited for at most, in milliseconds."""
    whenFull: NotRequired[WorkflowWhenFull | None]
    """What becomes of one that finds no room; `queue` if absent."""


class WorkflowMapStepExternalEvent(TypedDict):
    """Waits for a signal sent to this run."""

    onTimeout: NotRequired[WorkflowOnTimeout | None]
    """What happens when the time is over; `fail` if absent."""
    retry: NotRequired[WorkflowRetry | None]
    signalType: str
    """The signal's type, such as `payment.received`."""
    timeout: NotRequired[str | None]
    timeoutMs: NotRequired[int | None]
    type: Literal["external_event", "wait_for_signal"]


class WorkflowMapStepHttp(TypedDict):
    """The engine makes an HTTP call. `{{ secret.NAME }}` in its URL, headers and body is filled in when the call is made."""

    body: NotRequired[Json]
    """JSON, or text when it is a string; templates allowed."""
    failOn: NotRequired[list[WorkflowStatusPattern] | None]
    """Statuses that fail the step, such as `4xx`, `5xx` or `404`; both classes if absent."""
    headers: NotRequired[dict[str, str] | None]
    """Templates allowed."""
    limits: NotRequired[list[WorkflowLimit] | None]
    """Limits of the attempts of this step: how many may be at work at once, and how many may begin in a time."""
    method: NotRequired[WorkflowMethod | None]
    """`GET` if absent."""
    retry: NotRequired[WorkflowRetry | None]
    sign: NotRequired[bool]
    """Sign the call with the server's signing key, as Standard Webhooks."""
    timeout: NotRequired[str | None]
    timeoutMs: NotRequired[int | None]
    type: Literal["http"]
    url: str
    """Templates allowed."""


class WorkflowMapStepLlm(TypedDict):
    """Calls a model. Each call and each tool round is journalled, so that a crash pays for none twice."""

    budgetMicros: NotRequired[int | None]
    """What all calls of the step together may cost, in millionths of the currency of the price table. A call that could cost more than is left is not made."""
    fallbackModels: NotRequired[list[str] | None]
    """Models to try, in order, when this one fails."""
    guardrails: NotRequired[list[WorkflowGuardrail] | None]
    limits: NotRequired[list[WorkflowLimit] | None]
    """Limits of the attempts of this step: how many may be at work at once, and how many may begin in a time."""
    maxTokens: NotRequired[int | None]
    maxToolRounds: NotRequired[int | None]
    """How many rounds of tool calls are allowed; 10 if absent."""
    messages: list[WorkflowMessage]
    model: str
    """The model's name, as in the server's settings."""
    outputSchema: NotRequired[Json]
    """A JSON Schema the answer must satisfy; needs `responseFormat: json`."""
    responseFormat: NotRequired[WorkflowResponseFormat | None]
    retry: NotRequired[WorkflowRetry | None]
    systemPrompt: NotRequired[str | None]
    """Templates allowed."""
    temperature: NotRequired[float | None]
    timeout: NotRequired[str | None]
    """`timeoutMs` as a duration."""
    timeoutMs: NotRequired[int | None]
    """How long one attempt may work, in milliseconds."""
    tools: NotRequired[list[WorkflowTool] | None]
    type: Literal["llm"]


class WorkflowMapStepNotify(TypedDict):
    """Sends an event to everyone who waits for it."""

    data: NotRequired[Json]
    """Templates allowed."""
    delivery: NotRequired[WorkflowFanOut | None]
    """`all` if absent."""
    eventId: str
    """Templates allowed."""
    retry: NotRequired[WorkflowRetry | None]
    runId: NotRequired[str | None]
    """Only this run gets it; templates allowed."""
    type: Literal["notify"]


class WorkflowMapStepSubWorkflow(TypedDict):
    """Starts a run of another workflow and waits for it."""

    definition: str
    """The other workflow's name."""
    input: NotRequired[Json]
    """Templates allowed."""
    retry: NotRequired[WorkflowRetry | None]
    type: Literal["workflow", "child"]
    version: NotRequired[str | None]
    """The newest version if absent."""
    wait: NotRequired[bool | None]
    """Wait for the run to end; true if absent."""


class WorkflowMapStepTask(TypedDict):
    """Runs a registered handler: in process, a polling worker, or a URL called by the engine."""

    config: NotRequired[Json]
    """Settings for the handler; templates allowed."""
    handler: str
    """The handler's registered name."""
    heartbeat: NotRequired[str | None]
    """`heartbeatMs` as a duration."""
    heartbeatMs: NotRequired[int | None]
    """The worker is taken for lost when it has not reported for this long, in milliseconds."""
    input: NotRequired[Json]
    """What the handler gets as its input; templates allowed. Without it, the run's input."""
    limits: NotRequired[list[WorkflowLimit] | None]
    """Limits of the attempts of this step: how many may be at work at once, and how many may begin in a time."""
    onCodeChange: NotRequired[WorkflowOnCodeChange | None]
    """What becomes of it when its code does not fit what it has recorded; `wait` if absent."""
    pinToBuild: NotRequired[bool | None]
    """Only workers of the build that takes it first are given it again, in this run; `false` if absent. Until an operator unpins it, it waits for them, however long they are away."""
    retry: NotRequired[WorkflowRetry | None]
    timeout: NotRequired[str | None]
    """`timeoutMs` as a duration."""
    timeoutMs: NotRequired[int | None]
    """How long one attempt may work, in milliseconds; waiting does not count."""
    type: Literal["task"]


class WorkflowMapStepWait(TypedDict):
    """Suspends the run durably: for a time, until an instant, or until the next time of a cron line."""

    cron: NotRequired[str | None]
    """Waits for the next time of this cron line, in `timezone`."""
    duration: NotRequired[str | None]
    """How long to wait: `30s`, `2d 4h`, `PT30M`, or a template that gives one."""
    durationMs: NotRequired[int | None]
    """How long to wait, in milliseconds."""
    retry: NotRequired[WorkflowRetry | None]
    timezone: NotRequired[str | None]
    """An IANA zone such as `Europe/Berlin`; UTC if absent."""
    type: Literal["wait", "sleep"]
    untilTimestamp: NotRequired[str | None]
    """The instant to wait for, in RFC 3339, or a template that gives one. A past instant goes on at once."""


class WorkflowMapStepWaitForEvent(TypedDict):
    """Waits for an event that is sent to everyone."""

    eventId: str
    """The event's id; templates allowed, such as `order-{{ input.orderId }}`."""
    lookback: NotRequired[str | None]
    """`lookbackMs` as a duration. Without either, every event since the run was created counts."""
    lookbackMs: NotRequired[int | None]
    """Events received up to this long before the wait begins count too, in milliseconds."""
    match: NotRequired[str | None]
    """An expression over `event`, the event's data, and the run; only events for which it is true count."""
    onTimeout: NotRequired[WorkflowOnTimeout | None]
    """What happens when the time is over; `continue` if absent."""
    retry: NotRequired[WorkflowRetry | None]
    timeout: NotRequired[str | None]
    timeoutMs: NotRequired[int | None]
    type: Literal["wait_for_event"]


class WorkflowMapStepWebhook(TypedDict):
    """Waits for a call on its resume URL."""

    allowGet: NotRequired[bool]
    """Let a plain GET resume the run. Off by default: link scanners open every link."""
    allowSync: NotRequired[bool]
    """Let whoever has the link call it with `/sync`, and get what a `respond` step or a webhook says next. Off by default. They never get the run's output."""
    keepHeaders: NotRequired[list[str] | None]
    """Headers of the call that are kept, beside those that always are: `content-type`, `user-agent`, `webhook-id`, `webhook-timestamp` and `webhook-signature`."""
    onTimeout: NotRequired[WorkflowOnTimeout | None]
    """What happens when the time is over; `fail` if absent."""
    responseToSend: NotRequired[WorkflowRespond | None]
    """The reply given at once to the caller that started the run."""
    retry: NotRequired[WorkflowRetry | None]
    timeout: NotRequired[str | None]
    timeoutMs: NotRequired[int | None]
    type: Literal["webhook"]


class WorkflowMcp(TypedDict):
    """How MCP clients see the workflow: a tool that they call, or a prompt that they get. Those of the newest version count. The description and the schema of the arguments are the workflow's own."""

    ask: NotRequired[dict[str, WorkflowMcpAsk] | None]
    """What the caller is asked while the run waits, by the type of the signal that it waits for."""
    askFirst: NotRequired[dict[str, WorkflowMcpAsk] | None]
    """Fields of the input that the caller is asked for before the run starts, if the arguments lack them."""
    destructive: NotRequired[bool | None]
    """The tool may destroy something, where it is not `readOnly`."""
    idempotent: NotRequired[bool | None]
    """To call the tool again with the same arguments changes nothing more."""
    kind: NotRequired[WorkflowMcpKind | None]
    """`tool` if absent."""
    openWorld: NotRequired[bool | None]
    """The tool reaches what is outside of your own systems."""
    readOnly: NotRequired[bool | None]
    """The tool changes nothing."""
    task: NotRequired[WorkflowMcpTask | None]
    """Whether a call may become a task; `whenLong` if absent."""
    title: NotRequired[str | None]
    """What people are shown instead of the name."""


class WorkflowMcpAsk(TypedDict):
    """What a caller is asked: a person with a form, its model, or for its folders. Exactly one of `message`, `sampling` and `roots`."""

    message: NotRequired[str | None]
    """What a person is asked; templates allowed."""
    roots: NotRequired[bool | None]
    """The folders that the client works in."""
    sampling: NotRequired[Json]
    """What the client's model is asked: the parameters of `sampling/createMessage`, such as `messages` and `maxTokens`; templates allowed."""
    schema: NotRequired[Json]
    """With `message`: the JSON Schema of the form, an object whose fields are text, numbers, booleans or choices."""


class WorkflowMemberApproval(TypedDict):
    """One of several waits: for people to approve, reject or edit."""

    allowSelfApproval: NotRequired[bool | None]
    """Whether whoever started the run may decide; true if absent."""
    approvers: NotRequired[list[str] | None]
    """Who may decide: people by name, or `scope:approve` and `scope:admin` for any key with that scope."""
    contentKey: str
    """The key of `state` whose value is shown, and replaced when it is edited."""
    contentSchema: NotRequired[Json]
    """A JSON Schema that edited content must satisfy."""
    onReject: NotRequired[WorkflowOnRejectedMember | None]
    """What a rejection does: `fail` the step at once (if absent), or `continue`: it counts as having come."""
    prompt: NotRequired[str | None]
    """What is asked; templates allowed."""
    quorum: NotRequired[int | None]
    """How many must approve; 1 if absent."""
    type: Literal["approval"]


class WorkflowMemberExternalEvent(TypedDict):
    """One of several waits: for a signal sent to this run."""

    signalType: str
    """The signal's type, such as `payment.received`."""
    type: Literal["external_event", "wait_for_signal"]


class WorkflowMemberWait(TypedDict):
    """Suspends the run durably: for a time, until an instant, or until the next time of a cron line."""

    cron: NotRequired[str | None]
    """Waits for the next time of this cron line, in `timezone`."""
    duration: NotRequired[str | None]
    """How long to wait: `30s`, `2d 4h`, `PT30M`, or a template that gives one."""
    durationMs: NotRequired[int | None]
    """How long to wait, in milliseconds."""
    timezone: NotRequired[str | None]
    """An IANA zone such as `Europe/Berlin`; UTC if absent."""
    type: Literal["wait", "sleep"]
    untilTimestamp: NotRequired[str | None]
    """The instant to wait for, in RFC 3339, or a template that gives one. A past instant goes on at once."""


class WorkflowMemberWaitAll(TypedDict):
    """One of several waits: for all of others."""

    type: Literal["wait_all"]
    waits: dict[str, WorkflowMember]
    """The waits, by name; none of them has others inside."""


class WorkflowMemberWaitAny(TypedDict):
    """One of several waits: for the first of others."""

    type: Literal["wait_any"]
    waits: dict[str, WorkflowMember]
    """The waits, by name; none of them has others inside."""


class WorkflowMemberWaitForEvent(TypedDict):
    """One of several waits: for an event that is sent to everyone."""

    eventId: str
    """The event's id; templates allowed, such as `order-{{ input.orderId }}`."""
    lookback: NotRequired[str | None]
    """`lookbackMs` as a duration. Without either, every event since the run was created counts."""
    lookbackMs: NotRequired[int | None]
    """Events received up to this long before the wait begins count too, in milliseconds."""
    match: NotRequired[str | None]
    """An expression over `event`, the event's data, and the run; only events for which it is true count."""
    type: Literal["wait_for_event"]


class WorkflowMemberWaitSome(TypedDict):
    """One of several waits: for so many of others."""

    count: int
    """How many of them must come."""
    type: Literal["wait_some"]
    waits: dict[str, WorkflowMember]
    """The waits, by name; none of them has others inside."""


class WorkflowMemberWebhook(TypedDict):
    """One of several waits: for a call on its resume URL."""

    allowGet: NotRequired[bool]
    """Let a plain GET resume the run. Off by default: link scanners open every link."""
    allowSync: NotRequired[bool]
    """Let whoever has the link call it with `/sync`, and get what a `respond` step or a webhook says next. Off by default."""
    keepHeaders: NotRequired[list[str] | None]
    """Headers of the call that are kept, beside those that always are."""
    type: Literal["webhook"]


class WorkflowMemberWorkflow(TypedDict):
    """One of several waits: for a child run, which is started with it."""

    definition: str
    """The other workflow's name."""
    input: NotRequired[Json]
    """Templates allowed."""
    type: Literal["workflow", "child"]
    version: NotRequired[str | None]
    """The newest version if absent."""


class WorkflowMessage(TypedDict):
    """One message to a model."""

    content: str
    """Templates allowed."""
    role: WorkflowRole


class WorkflowOnApprovalTimeoutGoto(TypedDict):
    goto: str


class WorkflowOnTimeoutGoto(TypedDict):
    """The run goes on with this step."""

    goto: str


class WorkflowRespond(TypedDict):
    """Answers the caller that started the run; the run goes on."""

    body: NotRequired[Json]
    """Templates allowed."""
    headers: NotRequired[dict[str, str] | None]
    """Templates allowed."""
    status: NotRequired[int | None]
    """200 if absent."""


class WorkflowRestartOn(TypedDict):
    """An event that cancels a run and starts another in its place."""

    eventId: str
    """The event's id."""
    input: NotRequired[Json]
    """The new run's input; templates over `event` allowed. That of the run it replaces if absent."""
    match: NotRequired[str | None]
    """An expression over `event`, the event's data, and the run's `input`; only events for which it is true count."""


class WorkflowRetry(TypedDict):
    """How often, and after what time, a failed step is tried again."""

    backoffMs: NotRequired[int | None]
    """The initial back-off, before the second try, in milliseconds; 1000 if absent. Back-off has full jitter."""
    backoffMultiplier: NotRequired[float | None]
    """By how much that grows from try to try; 2 if absent."""
    maxAttempts: NotRequired[int | None]
    """All tries together; 3 if absent."""
    maxBackoffMs: NotRequired[int | None]
    """The longest back-off, in milliseconds; 300000 if absent."""


class WorkflowStartOn(TypedDict):
    """An event that starts a run of the workflow's newest version."""

    eventId: str
    """The event's id."""
    idempotencyKey: NotRequired[str | None]
    """A template over `event`; events that give the same key start one run together."""
    input: NotRequired[Json]
    """The run's input; templates over `event` allowed. The event's data if absent."""
    match: NotRequired[str | None]
    """An expression over `event`, the event's data; only events for which it is true start a run."""


class WorkflowStepApproval(TypedDict):
    """Waits for people to approve, reject or edit."""

    after: NotRequired[list[str] | None]
    """The steps that must be done before this one starts. If any step has it, the workflow is a graph."""
    allowSelfApproval: NotRequired[bool | None]
    """Whether whoever started the run may decide; true if absent."""
    approvers: NotRequired[list[str] | None]
    """Who may decide: people by name, or `scope:approve` and `scope:admin` for any key with that scope. Every key with the scope `approve`, and whoever has a link, if absent."""
    contentKey: str
    """The key of `state` whose value is shown, and replaced when it is edited."""
    contentSchema: NotRequired[Json]
    """A JSON Schema that edited content must satisfy."""
    description: NotRequired[str | None]
    escalateAfter: NotRequired[str | None]
    """When others may decide too, after it was asked."""
    escalateAfterMs: NotRequired[int | None]
    escalateTo: NotRequired[list[str] | None]
    """Who may decide from then on, besides the approvers."""
    name: str
    """Unique in the workflow. `steps.<name>.output` is what it produced."""
    next: NotRequired[str | None]
    """In a written sequence: the step to go on with, further down, or `end`."""
    onReject: NotRequired[WorkflowOnTimeout | None]
    """What happens when it is rejected; `fail` if absent."""
    onTimeout: NotRequired[WorkflowOnApprovalTimeout | None]
    """What happens when the time is over; `fail` if absent."""
    prompt: NotRequired[str | None]
    """What is asked; templates allowed."""
    quorum: NotRequired[int | None]
    """How many must approve; 1 if absent."""
    remindAfter: NotRequired[list[str] | None]
    """When those who may decide are reminded, after they were asked: `["4h", "1d"]`."""
    retry: NotRequired[WorkflowRetry | None]
    saveAs: NotRequired[str | None]
    """The key of `state` under which the step's result is stored."""
    timeout: NotRequired[str | None]
    timeoutMs: NotRequired[int | None]
    type: Literal["approval"]
    when: NotRequired[str | None]
    """An expression; when it is false, the step is skipped."""


class WorkflowStepCondition(TypedDict):
    """Goes on with one step or another."""

    after: NotRequired[list[str] | None]
    """The steps that must be done before this one starts. If any step has it, the workflow is a graph."""
    description: NotRequired[str | None]
    expression: str
    """Such as `state.leadScore >= 80`."""
    falseStep: NotRequired[str | None]
    """The step to go on with when it is false, or `end`; without it, the one that follows in order."""
    name: str
    """Unique in the workflow. `steps.<name>.output` is what it produced."""
    next: NotRequired[str | None]
    """In a written sequence: the step to go on with, further down, or `end`."""
    retry: NotRequired[WorkflowRetry | None]
    saveAs: NotRequired[str | None]
    """The key of `state` under which the step's result is stored."""
    trueStep: str
    """The step to go on with when it is true, or `end`."""
    type: Literal["condition"]
    when: NotRequired[str | None]
    """An expression; when it is false, the step is skipped."""


class WorkflowStepExternalEvent(TypedDict):
    """Waits for a signal sent to this run."""

    after: NotRequired[list[str] | None]
    """The steps that must be done before this one starts. If any step has it, the workflow is a graph."""
    description: NotRequired[str | None]
    name: str
    """Unique in the workflow. `steps.<name>.output` is what it produced."""
    next: NotRequired[str | None]
    """In a written sequence: the step to go on with, further down, or `end`."""
    onTimeout: NotRequired[WorkflowOnTimeout | None]
    """What happens when the time is over; `fail` if absent."""
    retry: NotRequired[WorkflowRetry | None]
    saveAs: NotRequired[str | None]
    """The key of `state` under which the step's result is stored."""
    signalType: str
    """The signal's type, such as `payment.received`."""
    timeout: NotRequired[str | None]
    timeoutMs: NotRequired[int | None]
    type: Literal["external_event", "wait_for_signal"]
    when: NotRequired[str | None]
    """An expression; when it is false, the step is skipped."""


class WorkflowStepHttp(TypedDict):
    """The engine makes an HTTP call. `{{ secret.NAME }}` in its URL, headers and body is filled in when the call is made."""

    after: NotRequired[list[str] | None]
    """The steps that must be done before this one starts. If any step has it, the workflow is a graph."""
    body: NotRequired[Json]
    """JSON, or text when it is a string; templates allowed."""
    description: NotRequired[str | None]
    failOn: NotRequired[list[WorkflowStatusPattern] | None]
    """Statuses that fail the step, such as `4xx`, `5xx` or `404`; both classes if absent."""
    headers: NotRequired[dict[str, str] | None]
    """Templates allowed."""
    limits: NotRequired[list[WorkflowLimit] | None]
    """Limits of the attempts of this step: how many may be at work at once, and how many may begin in a time."""
    method: NotRequired[WorkflowMethod | None]
    """`GET` if absent."""
    name: str
    """Unique in the workflow. `steps.<name>.output` is what it produced."""
    next: NotRequired[str | None]
    """In a written sequence: the step to go on with, further down, or `end`."""
    retry: NotRequired[WorkflowRetry | None]
    saveAs: NotRequired[str | None]
    """The key of `state` under which the step's result is stored."""
    sign: NotRequired[bool]
    """Sign the call with the server's signing key, as Standard Webhooks."""
    timeout: NotRequired[str | None]
    timeoutMs: NotRequired[int | None]
    type: Literal["http"]
    url: str
    """Templates allowed."""
    when: NotRequired[str | None]
    """An expression; when it is false, the step is skipped."""


class WorkflowStepLlm(TypedDict):
    """Calls a model. Each call and each tool round is journalled, so that a crash pays for none twice."""

    after: NotRequired[list[str] | None]
    """The steps that must be done before this one starts. If any step has it, the workflow is a graph."""
    budgetMicros: NotRequired[int | None]
    """What all calls of the step together may cost, in millionths of the currency of the price table. A call that could cost more than is left is not made."""
    description: NotRequired[str | None]
    fallbackModels: NotRequired[list[str] | None]
    """Models to try, in order, when this one fails."""
    guardrails: NotRequired[list[WorkflowGuardrail] | None]
    limits: NotRequired[list[WorkflowLimit] | None]
    """Limits of the attempts of this step: how many may be at work at once, and how many may begin in a time."""
    maxTokens: NotRequired[int | None]
    maxToolRounds: NotRequired[int | None]
    """How many rounds of tool calls are allowed; 10 if absent."""
    messages: list[WorkflowMessage]
    model: str
    """The model's name, as in the server's settings."""
    name: str
    """Unique in the workflow. `steps.<name>.output` is what it produced."""
    next: NotRequired[str | None]
    """In a written sequence: the step to go on with, further down, or `end`."""
    outputSchema: NotRequired[Json]
    """A JSON Schema the answer must satisfy; needs `responseFormat: json`."""
    responseFormat: NotRequired[WorkflowResponseFormat | None]
    retry: NotRequired[WorkflowRetry | None]
    saveAs: NotRequired[str | None]
    """The key of `state` under which the step's result is stored."""
    systemPrompt: NotRequired[str | None]
    """Templates allowed."""
    temperature: NotRequired[float | None]
    timeout: NotRequired[str | None]
    """`timeoutMs` as a duration."""
    timeoutMs: NotRequired[int | None]
    """How long one attempt may work, in milliseconds."""
    tools: NotRequired[list[WorkflowTool] | None]
    type: Literal["llm"]
    when: NotRequired[str | None]
    """An expression; when it is false, the step is skipped."""


class WorkflowStepMap(TypedDict):
    """Does one step for every item of a list, in parallel; the results are in the items' order."""

    after: NotRequired[list[str] | None]
    """The steps that must be done before this one starts. If any step has it, the workflow is a graph."""
    concurrency: NotRequired[int | None]
    """How many items at a time; all if absent."""
    description: NotRequired[str | None]
    items: Json
    """The list, or an expression or template that gives one."""
    name: str
    """Unique in the workflow. `steps.<name>.output` is what it produced."""
    next: NotRequired[str | None]
    """In a written sequence: the step to go on with, further down, or `end`."""
    onItemFailure: NotRequired[WorkflowOnItemFailure | None]
    """What a failed item does: `fail` the step at once (if absent), or `collect` it as `{"error": …}`."""
    retry: NotRequired[WorkflowRetry | None]
    saveAs: NotRequired[str | None]
    """The key of `state` under which the step's result is stored."""
    step: WorkflowMapStep
    """The step to do; its templates see `item` and `index`."""
    type: Literal["map"]
    when: NotRequired[str | None]
    """An expression; when it is false, the step is skipped."""


class WorkflowStepNotify(TypedDict):
    """Sends an event to everyone who waits for it."""

    after: NotRequired[list[str] | None]
    """The steps that must be done before this one starts. If any step has it, the workflow is a graph."""
    data: NotRequired[Json]
    """Templates allowed."""
    delivery: NotRequired[WorkflowFanOut | None]
    """`all` if absent."""
    description: NotRequired[str | None]
    eventId: str
    """Templates allowed."""
    name: str
    """Unique in the workflow. `steps.<name>.output` is what it produced."""
    next: NotRequired[str | None]
    """In a written sequence: the step to go on with, further down, or `end`."""
    retry: NotRequired[WorkflowRetry | None]
    runId: NotRequired[str | None]
    """Only this run gets it; templates allowed."""
    saveAs: NotRequired[str | None]
    """The key of `state` under which the step's result is stored."""
    type: Literal["notify"]
    when: NotRequired[str | None]
    """An expression; when it is false, the step is skipped."""


class WorkflowStepRespond(TypedDict):
    """Answers the caller that started the run; the run goes on."""

    after: NotRequired[list[str] | None]
    """The steps that must be done before this one starts. If any step has it, the workflow is a graph."""
    body: NotRequired[Json]
    """Templates allowed."""
    description: NotRequired[str | None]
    headers: NotRequired[dict[str, str] | None]
    """Templates allowed."""
    name: str
    """Unique in the workflow. `steps.<name>.output` is what it produced."""
    next: NotRequired[str | None]
    """In a written sequence: the step to go on with, further down, or `end`."""
    retry: NotRequired[WorkflowRetry | None]
    saveAs: NotRequired[str | None]
    """The key of `state` under which the step's result is stored."""
    status: NotRequired[int | None]
    """200 if absent."""
    type: Literal["respond"]
    when: NotRequired[str | None]
    """An expression; when it is false, the step is skipped."""


class WorkflowStepSubWorkflow(TypedDict):
    """Starts a run of another workflow and waits for it."""

    after: NotRequired[list[str] | None]
    """The steps that must be done before this one starts. If any step has it, the workflow is a graph."""
    definition: str
    """The other workflow's name."""
    description: NotRequired[str | None]
    input: NotRequired[Json]
    """Templates allowed."""
    name: str
    """Unique in the workflow. `steps.<name>.output` is what it produced."""
    next: NotRequired[str | None]
    """In a written sequence: the step to go on with, further down, or `end`."""
    retry: NotRequired[WorkflowRetry | None]
    saveAs: NotRequired[str | None]
    """The key of `state` under which the step's result is stored."""
    type: Literal["workflow", "child"]
    version: NotRequired[str | None]
    """The newest version if absent."""
    wait: NotRequired[bool | None]
    """Wait for the run to end; true if absent."""
    when: NotRequired[str | None]
    """An expression; when it is false, the step is skipped."""


class WorkflowStepTask(TypedDict):
    """Runs a registered handler: in process, a polling worker, or a URL called by the engine."""

    after: NotRequired[list[str] | None]
    """The steps that must be done before this one starts. If any step has it, the workflow is a graph."""
    config: NotRequired[Json]
    """Settings for the handler; templates allowed."""
    description: NotRequired[str | None]
    handler: str
    """The handler's registered name."""
    heartbeat: NotRequired[str | None]
    """`heartbeatMs` as a duration."""
    heartbeatMs: NotRequired[int | None]
    """The worker is taken for lost when it has not reported for this long, in milliseconds."""
    input: NotRequired[Json]
    """What the handler gets as its input; templates allowed. Without it, the run's input."""
    limits: NotRequired[list[WorkflowLimit] | None]
    """Limits of the attempts of this step: how many may be at work at once, and how many may begin in a time."""
    name: str
    """Unique in the workflow. `steps.<name>.output` is what it produced."""
    next: NotRequired[str | None]
    """In a written sequence: the step to go on with, further down, or `end`."""
    onCodeChange: NotRequired[WorkflowOnCodeChange | None]
    """What becomes of it when its code does not fit what it has recorded; `wait` if absent."""
    pinToBuild: NotRequired[bool | None]
    """Only workers of the build that takes it first are given it again, in this run; `false` if absent. Until an operator unpins it, it waits for them, however long they are away."""
    retry: NotRequired[WorkflowRetry | None]
    saveAs: NotRequired[str | None]
    """The key of `state` under which the step's result is stored."""
    timeout: NotRequired[str | None]
    """`timeoutMs` as a duration."""
    timeoutMs: NotRequired[int | None]
    """How long one attempt may work, in milliseconds; waiting does not count."""
    type: Literal["task"]
    when: NotRequired[str | None]
    """An expression; when it is false, the step is skipped."""


class WorkflowStepWait(TypedDict):
    """Suspends the run durably: for a time, until an instant, or until the next time of a cron line."""

    after: NotRequired[list[str] | None]
    """The steps that must be done before this one starts. If any step has it, the workflow is a graph."""
    cron: NotRequired[str | None]
    """Waits for the next time of this cron line, in `timezone`."""
    description: NotRequired[str | None]
    duration: NotRequired[str | None]
    """How long to wait: `30s`, `2d 4h`, `PT30M`, or a template that gives one."""
    durationMs: NotRequired[int | None]
    """How long to wait, in milliseconds."""
    name: str
    """Unique in the workflow. `steps.<name>.output` is what it produced."""
    next: NotRequired[str | None]
    """In a written sequence: the step to go on with, further down, or `end`."""
    retry: NotRequired[WorkflowRetry | None]
    saveAs: NotRequired[str | None]
    """The key of `state` under which the step's result is stored."""
    timezone: NotRequired[str | None]
    """An IANA zone such as `Europe/Berlin`; UTC if absent."""
    type: Literal["wait", "sleep"]
    untilTimestamp: NotRequired[str | None]
    """The instant to wait for, in RFC 3339, or a template that gives one. A past instant goes on at once."""
    when: NotRequired[str | None]
    """An expression; when it is false, the step is skipped."""


class WorkflowStepWaitAll(TypedDict):
    """Waits for all of several waits."""

    after: NotRequired[list[str] | None]
    """The steps that must be done before this one starts. If any step has it, the workflow is a graph."""
    description: NotRequired[str | None]
    name: str
    """Unique in the workflow. `steps.<name>.output` is what it produced."""
    next: NotRequired[str | None]
    """In a written sequence: the step to go on with, further down, or `end`."""
    onTimeout: NotRequired[WorkflowOnTimeout | None]
    """What happens when the time is over; `fail` if absent."""
    retry: NotRequired[WorkflowRetry | None]
    saveAs: NotRequired[str | None]
    """The key of `state` under which the step's result is stored."""
    timeout: NotRequired[str | None]
    """How long all of them together may take."""
    timeoutMs: NotRequired[int | None]
    type: Literal["wait_all"]
    waits: dict[str, WorkflowMember]
    """The waits, by name."""
    when: NotRequired[str | None]
    """An expression; when it is false, the step is skipped."""


class WorkflowStepWaitAny(TypedDict):
    """Waits for the first of several waits; the others are cancelled with it."""

    after: NotRequired[list[str] | None]
    """The steps that must be done before this one starts. If any step has it, the workflow is a graph."""
    description: NotRequired[str | None]
    goto: NotRequired[dict[str, str] | None]
    """The step to go on with, by the name of the wait that came; without one, the step that follows in order."""
    name: str
    """Unique in the workflow. `steps.<name>.output` is what it produced."""
    next: NotRequired[str | None]
    """In a written sequence: the step to go on with, further down, or `end`."""
    onTimeout: NotRequired[WorkflowOnTimeout | None]
    """What happens when the time is over; `fail` if absent."""
    retry: NotRequired[WorkflowRetry | None]
    saveAs: NotRequired[str | None]
    """The key of `state` under which the step's result is stored."""
    timeout: NotRequired[str | None]
    """How long all of them together may take."""
    timeoutMs: NotRequired[int | None]
    type: Literal["wait_any"]
    waits: dict[str, WorkflowMember]
    """The waits, by name. Those that come in the same moment count in the order of their names."""
    when: NotRequired[str | None]
    """An expression; when it is false, the step is skipped."""


class WorkflowStepWaitForEvent(TypedDict):
    """Waits for an event that is sent to everyone."""

    after: NotRequired[list[str] | None]
    """The steps that must be done before this one starts. If any step has it, the workflow is a graph."""
    description: NotRequired[str | None]
    eventId: str
    """The event's id; templates allowed, such as `order-{{ input.orderId }}`."""
    lookback: NotRequired[str | None]
    """`lookbackMs` as a duration. Without either, every event since the run was created counts."""
    lookbackMs: NotRequired[int | None]
    """Events received up to this long before the wait begins count too, in milliseconds."""
    match: NotRequired[str | None]
    """An expression over `event`, the event's data, and the run; only events for which it is true count."""
    name: str
    """Unique in the workflow. `steps.<name>.output` is what it produced."""
    next: NotRequired[str | None]
    """In a written sequence: the step to go on with, further down, or `end`."""
    onTimeout: NotRequired[WorkflowOnTimeout | None]
    """What happens when the time is over; `continue` if absent."""
    retry: NotRequired[WorkflowRetry | None]
    saveAs: NotRequired[str | None]
    """The key of `state` under which the step's result is stored."""
    timeout: NotRequired[str | None]
    timeoutMs: NotRequired[int | None]
    type: Literal["wait_for_event"]
    when: NotRequired[str | None]
    """An expression; when it is false, the step is skipped."""


class WorkflowStepWaitSome(TypedDict):
    """Waits for so many of several waits; the others are cancelled with the last of them."""

    after: NotRequired[list[str] | None]
    """The steps that must be done before this one starts. If any step has it, the workflow is a graph."""
    count: int
    """How many of them must come."""
    description: NotRequired[str | None]
    goto: NotRequired[dict[str, str] | None]
    """The step to go on with, by the name of the wait that came first; without one, the step that follows in order."""
    name: str
    """Unique in the workflow. `steps.<name>.output` is what it produced."""
    next: NotRequired[str | None]
    """In a written sequence: the step to go on with, further down, or `end`."""
    onTimeout: NotRequired[WorkflowOnTimeout | None]
    """What happens when the time is over; `fail` if absent."""
    retry: NotRequired[WorkflowRetry | None]
    saveAs: NotRequired[str | None]
    """The key of `state` under which the step's result is stored."""
    timeout: NotRequired[str | None]
    """How long all of them together may take."""
    timeoutMs: NotRequired[int | None]
    type: Literal["wait_some"]
    waits: dict[str, WorkflowMember]
    """The waits, by name. Those that come in the same moment count in the order of their names."""
    when: NotRequired[str | None]
    """An expression; when it is false, the step is skipped."""


class WorkflowStepWebhook(TypedDict):
    """Waits for a call on its resume URL."""

    after: NotRequired[list[str] | None]
    """The steps that must be done before this one starts. If any step has it, the workflow is a graph."""
    allowGet: NotRequired[bool]
    """Let a plain GET resume the run. Off by default: link scanners open every link."""
    allowSync: NotRequired[bool]
    """Let whoever has the link call it with `/sync`, and get what a `respond` step or a webhook says next. Off by default. They never get the run's output."""
    description: NotRequired[str | None]
    keepHeaders: NotRequired[list[str] | None]
    """Headers of the call that are kept, beside those that always are: `content-type`, `user-agent`, `webhook-id`, `webhook-timestamp` and `webhook-signature`."""
    name: str
    """Unique in the workflow. `steps.<name>.output` is what it produced."""
    next: NotRequired[str | None]
    """In a written sequence: the step to go on with, further down, or `end`."""
    onTimeout: NotRequired[WorkflowOnTimeout | None]
    """What happens when the time is over; `fail` if absent."""
    responseToSend: NotRequired[WorkflowRespond | None]
    """The reply given at once to the caller that started the run."""
    retry: NotRequired[WorkflowRetry | None]
    saveAs: NotRequired[str | None]
    """The key of `state` under which the step's result is stored."""
    timeout: NotRequired[str | None]
    timeoutMs: NotRequired[int | None]
    type: Literal["webhook"]
    when: NotRequired[str | None]
    """An expression; when it is false, the step is skipped."""


class WorkflowTool(TypedDict):
    """Something a model may call: a handler, or another workflow."""

    description: NotRequired[str | None]
    handler: NotRequired[str | None]
    """The handler that serves it; the tool's name if absent."""
    name: str
    parameters: NotRequired[Json]
    """A JSON Schema of the arguments."""
    workflow: NotRequired[str | None]
    """The workflow that serves it, instead of a handler."""


class Workspace(TypedDict):
    createdAt: str
    id: str
    name: str
    openRuns: int
    """Runs that have not ended."""
    quotas: Quotas
    """What it may have: its own figures, and those of the server where it has none."""
    storedBytes: int
    """What its histories and events take."""


class WorkspaceList(TypedDict):
    """A part of a list."""

    data: list[Workspace]
    nextCursor: str | None
    """Give it as `cursor` to get what follows; null at the end."""


EventStartOutcome: TypeAlias = Union[Literal["started"], Literal["collected"], Literal["repeated"], Literal["refused"], Literal["wouldStart"]]
LimitScope: TypeAlias = Union[Literal["workflow"], Literal["workspace"]]
ListensFor: TypeAlias = Union["ListensForTime", "ListensForSignal", "ListensForEvent", "ListensForCall", "ListensForApproval", "ListensForChild", "ListensForAttempt", "ListensForCode", "ListensForCapacity", "ListensForStarts"]
Method: TypeAlias = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
HistoryRecord: TypeAlias = dict[str, Json]
StartOutcome: TypeAlias = Union[Literal["created"], Literal["skipped"], Literal["collected"], Literal["repeated"], Literal["refused"]]
StatusPattern: TypeAlias = Union["int", Literal["1xx", "2xx", "3xx", "4xx", "5xx"]]
TaskReport: TypeAlias = Union["TaskReportComplete", "TaskReportFail", "TaskReportPause", "TaskReportSuspend", "TaskReportHeartbeat", "TaskReportLog", "TaskReportRelease"]
TaskWait: TypeAlias = Union["TaskWaitSleep", "TaskWaitUntil", "TaskWaitSignal", "TaskWaitEvent", "TaskWaitWebhook", "TaskWaitWaitpoint", "TaskWaitRetry", "TaskWaitCapacity", "TaskWaitApproval", "TaskWaitChild", "TaskWaitHttp"]
WebhookStatus: TypeAlias = Union[Literal["ENABLED", "DISABLED"], Literal["FAILING"]]
WorkflowFanOut: TypeAlias = Union[Literal["all"], Literal["one"]]
WorkflowGuardrail: TypeAlias = Union["WorkflowGuardrailSchemaValidation", "WorkflowGuardrailContentSafety", "WorkflowGuardrailConfidenceThreshold"]
WorkflowHolds: TypeAlias = Union[Literal["work"], Literal["run"]]
WorkflowLimitScope: TypeAlias = Union[Literal["workflow"], Literal["workspace"]]
WorkflowMapStep: TypeAlias = Union["WorkflowMapStepTask", "WorkflowMapStepWait", "WorkflowMapStepExternalEvent", "WorkflowMapStepWaitForEvent", "WorkflowMapStepWebhook", "WorkflowMapStepLlm", "WorkflowMapStepHttp", "WorkflowMapStepNotify", "WorkflowMapStepSubWorkflow"]
WorkflowMcpKind: TypeAlias = Literal["tool", "prompt"]
WorkflowMcpTask: TypeAlias = Union[Literal["whenLong"], Literal["always"], Literal["never"]]
WorkflowMember: TypeAlias = Union["WorkflowMemberWait", "WorkflowMemberExternalEvent", "WorkflowMemberWaitForEvent", "WorkflowMemberWebhook", "WorkflowMemberApproval", "WorkflowMemberWorkflow", "WorkflowMemberWaitAny", "WorkflowMemberWaitAll", "WorkflowMemberWaitSome"]
WorkflowMethod: TypeAlias = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
WorkflowOnApprovalTimeout: TypeAlias = Union[Literal["fail", "continue", "approve", "reject"], "WorkflowOnApprovalTimeoutGoto"]
WorkflowOnCodeChange: TypeAlias = Union[Literal["wait"], Literal["fail"]]
WorkflowOnGuardrail: TypeAlias = Literal["block", "warn", "retry_with_feedback"]
WorkflowOnItemFailure: TypeAlias = Literal["fail", "collect"]
WorkflowOnRejectedMember: TypeAlias = Literal["fail", "continue"]
WorkflowOnTimeout: TypeAlias = Union[Literal["fail"], Literal["continue"], "WorkflowOnTimeoutGoto"]
WorkflowResponseFormat: TypeAlias = Literal["text", "json"]
WorkflowRole: TypeAlias = Literal["system", "user", "assistant"]
WorkflowStatusPattern: TypeAlias = Union["int", Literal["1xx", "2xx", "3xx", "4xx", "5xx"]]
WorkflowStep: TypeAlias = Union["WorkflowStepTask", "WorkflowStepWait", "WorkflowStepCondition", "WorkflowStepExternalEvent", "WorkflowStepWaitForEvent", "WorkflowStepWebhook", "WorkflowStepApproval", "WorkflowStepLlm", "WorkflowStepHttp", "WorkflowStepNotify", "WorkflowStepRespond", "WorkflowStepSubWorkflow", "WorkflowStepMap", "WorkflowStepWaitAny", "WorkflowStepWaitAll", "WorkflowStepWaitSome"]
WorkflowWhenFull: TypeAlias = Union[Literal["queue"], Literal["skip"], Literal["replace"], Literal["refuse"]]
ProblemCode: TypeAlias = Literal["NOT_JSON", "BAD_REQUEST", "UNAUTHENTICATED", "BAD_LINK", "BAD_LEASE", "FORBIDDEN", "NOT_AN_APPROVER", "SELF_APPROVAL", "SYNC_NOT_ALLOWED", "MAY_NOT_DECIDE", "HOST_REFUSED", "PROXY_REFUSED", "ORIGIN_REFUSED", "NOT_FOUND", "UNKNOWN_RUN", "UNKNOWN_DEFINITION", "UNKNOWN_STEP", "UNKNOWN_WAITPOINT", "UNKNOWN_TASK", "UNKNOWN_KEY", "UNKNOWN_LINK_SECRET", "NO_SIGNING_KEY", "UNKNOWN_LIMIT", "UNKNOWN_SCHEDULE", "UNKNOWN_WEBHOOK", "UNKNOWN_DELIVERY", "NOT_HELD", "UNKNOWN_WORKSPACE", "METHOD_NOT_ALLOWED", "READ_ONLY", "BODY_TIMEOUT", "ALREADY_RESOLVED", "ALREADY_DECIDED", "QUORUM_NOT_REACHED", "CONTENT_CHANGED", "WRONG_WAITPOINT_KIND", "EVENT_DOES_NOT_MATCH", "NOT_DUE", "NO_SUCH_TIMER", "RUN_ENDED", "NO_TEST_CLOCK", "HELD", "RUN_NOT_FAILED", "RUN_NOT_WAITING", "RUN_DOES_NOT_FIT", "RUN_BUSY", "WRONG_STEP_STATUS", "STALE_LEASE", "TASK_ALREADY_TAKEN", "PINNED_TO_BUILD", "JOURNAL_CONFLICT", "JOURNAL_MISMATCH", "DEFINITION_EXISTS", "SCHEDULE_EXISTS", "DELIVERY_PENDING", "WORKSPACE_EXISTS", "WAITPOINT_TIMED_OUT", "WAITPOINT_CANCELLED", "WAITPOINT_EXPIRED", "LINK_REVOKED", "LINK_EXPIRED", "BODY_TOO_LARGE", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE", "MALFORMED", "BAD_CURSOR", "INVALID_DEFINITION", "INVALID_INPUT", "INVALID_CONTENT", "LIMIT_EXCEEDED", "IDEMPOTENCY_KEY_REUSED", "RUN_FAILED", "RUN_CANCELLED", "LIMIT_FULL", "RATE_LIMITED", "QUOTA_EXCEEDED", "HEADERS_TOO_LARGE", "DAMAGED", "INTERNAL", "ILLEGAL_TRANSITION", "OVERLOADED", "STORE_UNAVAILABLE", "PAUSED", "ENGINE_STUCK", "STOPPING"]
