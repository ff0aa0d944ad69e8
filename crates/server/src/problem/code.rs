//! Every code an answer can carry, with its status and its meaning: the source of `docs/reference/errors.md`, of the document at
//! `/openapi.json` and of the page at `/docs`.

use axum::http::StatusCode;

macro_rules! codes {
    ($($variant:ident $name:literal $status:ident $meaning:literal)*) => {
        /// A stable code. What a program may rely on; the words beside it may change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $($variant),* }

        impl Code {
            pub const ALL: &'static [Code] = &[$(Code::$variant),*];

            pub fn name(self) -> &'static str {
                match self { $(Code::$variant => $name),* }
            }

            pub fn status(self) -> StatusCode {
                match self { $(Code::$variant => StatusCode::$status),* }
            }

            /// What it means and what to do, in plain words.
            pub fn meaning(self) -> &'static str {
                match self { $(Code::$variant => $meaning),* }
            }
        }
    };
}

codes! {
    NotJson "NOT_JSON" BAD_REQUEST "The body is not JSON, or not UTF-8. The detail names the line and the column."
    BadRequest "BAD_REQUEST" BAD_REQUEST "The request cannot be read as HTTP: a path or a header that is not text."

    Unauthenticated "UNAUTHENTICATED" UNAUTHORIZED "No key was given, or it is not known, or it was revoked. Send `Authorization: Bearer abk_…` or `x-api-key`."
    BadLink "BAD_LINK" UNAUTHORIZED "The resume URL has no token, or one that was not made by this server for this waitpoint."
    BadLease "BAD_LEASE" UNAUTHORIZED "The lease token was not made by this server for this task."

    Forbidden "FORBIDDEN" FORBIDDEN "The key is known, but lacks the scope that this needs. The detail names it."
    NotAnApprover "NOT_AN_APPROVER" FORBIDDEN "Only the approvers named by the step may decide."
    SelfApproval "SELF_APPROVAL" FORBIDDEN "The step does not let whoever started the run decide, nor a link that is for nobody in particular."
    SyncNotAllowed "SYNC_NOT_ALLOWED" FORBIDDEN "The link resumes the run, and its holder is not shown what the run says. Call it without `/sync`, or give the webhook step `allowSync`."
    MayNotDecide "MAY_NOT_DECIDE" FORBIDDEN "To end an approval's wait, or to bring its deadline nearer, is to decide it. It needs a key with the scope `approve`."
    HostRefused "HOST_REFUSED" FORBIDDEN "The `Host` header is not a name of this server. Add it with `--allow-host`, or set `--public-url`."
    ProxyRefused "PROXY_REFUSED" FORBIDDEN "The request came through a proxy, and this server needs no keys because it is only for this machine. Start it with `--auth required`."
    OriginRefused "ORIGIN_REFUSED" FORBIDDEN "A web page of another origin sent this. Allow the origin with `--allow-origin`."

    NotFound "NOT_FOUND" NOT_FOUND "There is nothing at this path. `/docs` lists what there is."
    UnknownRun "UNKNOWN_RUN" NOT_FOUND "There is no such run in this workspace."
    UnknownDefinition "UNKNOWN_DEFINITION" NOT_FOUND "There is no such workflow, or not in this version, in this workspace."
    UnknownStep "UNKNOWN_STEP" NOT_FOUND "The run has no step of this name. The nearest name is in the detail."
    UnknownWaitpoint "UNKNOWN_WAITPOINT" NOT_FOUND "There is no such waitpoint in this workspace."
    UnknownTask "UNKNOWN_TASK" NOT_FOUND "There is no such task in this workspace."
    UnknownKey "UNKNOWN_KEY" NOT_FOUND "There is no such API key."
    UnknownLinkSecret "UNKNOWN_LINK_SECRET" NOT_FOUND "There is no such link secret, or it was retired."
    NoSigningKey "NO_SIGNING_KEY" NOT_FOUND "The server has no key to sign with. Whoever runs it sets `ABIDE_SECRET_SIGNING_KEY`."
    UnknownLimit "UNKNOWN_LIMIT" NOT_FOUND "Nobody has room under a limit of this name or waits for it, nothing is set for it, and the workflow has none of this name."
    UnknownSchedule "UNKNOWN_SCHEDULE" NOT_FOUND "There is no such schedule in this workspace."
    UnknownWebhook "UNKNOWN_WEBHOOK" NOT_FOUND "There is no such webhook in this workspace."
    UnknownDelivery "UNKNOWN_DELIVERY" NOT_FOUND "The webhook has no such delivery, or it was removed by retention."
    NotHeld "NOT_HELD" NOT_FOUND "There is no run or schedule of this id that is held, in this workspace."
    UnknownWorkspace "UNKNOWN_WORKSPACE" NOT_FOUND "There is no such workspace."

    MethodNotAllowed "METHOD_NOT_ALLOWED" METHOD_NOT_ALLOWED "The path exists, but not with this method. `Allow` lists those it has."
    ReadOnly "READ_ONLY" METHOD_NOT_ALLOWED "Reading a resume URL changes nothing. Send a POST, or create the wait with `allowGet`."

    BodyTimeout "BODY_TIMEOUT" REQUEST_TIMEOUT "The body took too long to arrive."

    AlreadyResolved "ALREADY_RESOLVED" CONFLICT "The waitpoint is resolved already. `outcome` says how, when and by whom."
    AlreadyDecided "ALREADY_DECIDED" CONFLICT "Who asks has decided on this request already."
    QuorumNotReached "QUORUM_NOT_REACHED" CONFLICT "To let an approval go on before its time counts as one person's approval, and its quorum needs more. `current` has both figures."
    ContentChanged "CONTENT_CHANGED" CONFLICT "What is to be approved is not what the decision was made on. `current` has the digest of what it is now."
    WrongWaitpointKind "WRONG_WAITPOINT_KIND" CONFLICT "A waitpoint of this kind cannot be ended in this way."
    EventDoesNotMatch "EVENT_DOES_NOT_MATCH" CONFLICT "The event is not one that the waitpoint waits for."
    NotDue "NOT_DUE" CONFLICT "The waitpoint's time has not come."
    NoSuchTimer "NO_SUCH_TIMER" CONFLICT "The timer is not set, or not due."
    RunEnded "RUN_ENDED" CONFLICT "The run has ended. `current` says how."
    NoTestClock "NO_TEST_CLOCK" CONFLICT "The server goes by the machine's clock. Start it with `--test-clock` to set the time."
    Held "HELD" CONFLICT "The run or schedule is held: nothing is decided about it until it is released. The detail says why."
    RunNotFailed "RUN_NOT_FAILED" CONFLICT "Only a FAILED run can be retried."
    RunNotWaiting "RUN_NOT_WAITING" CONFLICT "Only a run that stands still can be moved to another version: WAITING, PAUSED or PENDING, with no task at work. Ask again when it waits. `current` says its status."
    RunDoesNotFit "RUN_DOES_NOT_FIT" CONFLICT "The run's past does not fit the version it was to be moved to. `current.misfits` lists every reason, with its code and step."
    RunBusy "RUN_BUSY" CONFLICT "The run changed in the same moment. Nothing was changed; ask again."
    WrongStepStatus "WRONG_STEP_STATUS" CONFLICT "The step is in a state in which this cannot be done to it."
    StaleLease "STALE_LEASE" CONFLICT "The task was handed out again, or is over. Stop working on it."
    TaskAlreadyTaken "TASK_ALREADY_TAKEN" CONFLICT "Another worker has the task."
    PinnedToBuild "PINNED_TO_BUILD" CONFLICT "The task is pinned to another build than the worker's."
    JournalConflict "JOURNAL_CONFLICT" CONFLICT "The journal holds another result under this name."
    JournalMismatch "JOURNAL_MISMATCH" CONFLICT "The journal holds another kind of wait, or another question, under this name."
    DefinitionExists "DEFINITION_EXISTS" CONFLICT "This name and version exist with another content. Change the version."
    ScheduleExists "SCHEDULE_EXISTS" CONFLICT "There is a schedule of this name in this workspace."
    DeliveryPending "DELIVERY_PENDING" CONFLICT "The delivery is pending: it is retried automatically. `current` says when."
    WorkspaceExists "WORKSPACE_EXISTS" CONFLICT "There is a workspace of this name."

    WaitpointTimedOut "WAITPOINT_TIMED_OUT" GONE "The waitpoint timed out. `outcome` says when."
    WaitpointCancelled "WAITPOINT_CANCELLED" GONE "The waitpoint was cancelled. `outcome` says when and by whom."
    WaitpointExpired "WAITPOINT_EXPIRED" GONE "The waitpoint's deadline has passed, even if its timer has not fired yet."
    LinkRevoked "LINK_REVOKED" GONE "The resume URL was revoked."
    LinkExpired "LINK_EXPIRED" GONE "The resume URL was made for a time, and that is over. The wait may still be open: ask for another URL."

    BodyTooLarge "BODY_TOO_LARGE" PAYLOAD_TOO_LARGE "The body is larger than the server takes. The detail names the limit."
    PayloadTooLarge "PAYLOAD_TOO_LARGE" PAYLOAD_TOO_LARGE "One payload (an input, an output, a signal, an event) is larger than 1 MiB. The detail names it."
    UnsupportedMediaType "UNSUPPORTED_MEDIA_TYPE" UNSUPPORTED_MEDIA_TYPE "The body must be JSON, and `Content-Type` must say so."

    Malformed "MALFORMED" UNPROCESSABLE_ENTITY "A field or a parameter is unknown, missing or wrong. `problems` lists each with its place and what would be right."
    BadCursor "BAD_CURSOR" UNPROCESSABLE_ENTITY "The cursor is not one that this list gave. Begin without one."
    InvalidDefinition "INVALID_DEFINITION" UNPROCESSABLE_ENTITY "The document is not a workflow. `problems` lists everything that is wrong with it."
    InvalidInput "INVALID_INPUT" UNPROCESSABLE_ENTITY "The input does not satisfy the workflow's `inputSchema`. `problems` lists where."
    InvalidContent "INVALID_CONTENT" UNPROCESSABLE_ENTITY "The edited content does not satisfy the approval's `contentSchema`. `problems` lists where."
    LimitExceeded "LIMIT_EXCEEDED" UNPROCESSABLE_ENTITY "Something is over one of the engine's limits. The detail names it and both figures."
    IdempotencyKeyReused "IDEMPOTENCY_KEY_REUSED" UNPROCESSABLE_ENTITY "The idempotency key was used for another request."

    RunFailed "RUN_FAILED" FAILED_DEPENDENCY "The run that was to answer failed. `current` says why."
    RunCancelled "RUN_CANCELLED" FAILED_DEPENDENCY "The run that was to answer was cancelled."

    LimitFull "LIMIT_FULL" TOO_MANY_REQUESTS "There is no room under a limit of the workflow whose `whenFull` is `refuse`. The run was not started; try again later."
    RateLimited "RATE_LIMITED" TOO_MANY_REQUESTS "Too many requests with this key. Try again after `Retry-After`."
    QuotaExceeded "QUOTA_EXCEEDED" TOO_MANY_REQUESTS "The workspace has as much of something as it may. `current` names the quota and both figures; an admin of the default workspace changes it with `PATCH /workspaces/{workspace}`."
    HeadersTooLarge "HEADERS_TOO_LARGE" REQUEST_HEADER_FIELDS_TOO_LARGE "There are too many headers, or they are too long."

    Damaged "DAMAGED" INTERNAL_SERVER_ERROR "What is stored of this is damaged. The detail names what; `abide doctor` finds all of it. A damaged run is held, and others go on."
    Internal "INTERNAL" INTERNAL_SERVER_ERROR "A defect of the server. The log has more under the request's id."
    IllegalTransition "ILLEGAL_TRANSITION" INTERNAL_SERVER_ERROR "A defect of the engine: a decision tried what the transition tables forbid. Nothing was changed."

    Overloaded "OVERLOADED" SERVICE_UNAVAILABLE "The engine has more to do than it can take. Try again after `Retry-After`. Nothing was changed."
    StoreUnavailable "STORE_UNAVAILABLE" SERVICE_UNAVAILABLE "The store cannot be read or written at the moment. Nothing was changed. Try again after `Retry-After`."
    Paused "PAUSED" SERVICE_UNAVAILABLE "The server was started with `--paused`, to look at a copy: nothing is changed, no timer goes off and nobody is called."
    EngineStuck "ENGINE_STUCK" SERVICE_UNAVAILABLE "The engine does not get on: no round ends, or none can be committed. The detail says why."
    Stopping "STOPPING" SERVICE_UNAVAILABLE "The server is shutting down. Try again after `Retry-After`."
}
