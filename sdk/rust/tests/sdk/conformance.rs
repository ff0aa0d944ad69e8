//! Every scenario of sdk/conformance/scenarios.md, under its name. Each gives what it came to.

mod approvals;
mod branches;
mod builds;
mod calls;
mod children;
mod code;
mod failures;
mod hooks;
mod http;
mod keys;
mod limits;
mod operators;
mod processes;
mod replay;
mod starts;
mod tasks;
mod waits;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use abide_sdk::testing::TestServer;
use abide_sdk::{Context, Error, Json, Result, RunHandle, wire, workflow};

pub(crate) use approvals::send;

const SCENARIOS: &str = include_str!("../../../conformance/scenarios.md");
/// What this SDK does not have.
const NOT_PLAYED: [&str; 1] = ["durable code behind a URL"];

fn expected() -> BTreeMap<&'static str, Json> {
    let parts = SCENARIOS.split("\n## ").skip(1);
    let scenario = |part: &'static str| {
        let (name, rest) = part.split_once('\n').unwrap();
        let (_, fenced) = rest.split_once("```json\n").unwrap();
        (name, serde_json::from_str(fenced.split_once("\n```").unwrap().0).unwrap())
    };
    parts.map(scenario).filter(|(name, _)| !NOT_PLAYED.contains(name)).collect()
}

macro_rules! scenarios {
    ($($name:literal => $module:ident::$test:ident $(($clock:ident))?),* $(,)?) => {
        #[test]
        fn there_is_a_function_for_every_scenario_and_a_scenario_for_every_function() {
            let mut names = vec![$($name),*];
            names.sort_unstable();
            assert_eq!(names, expected().into_keys().collect::<Vec<_>>());
        }

        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                let server = crate::server()$(.$clock())?.start().await.unwrap();
                assert_eq!($module::$test(&server).await.unwrap(), expected()[$name]);
            }
        )*
    };
}

scenarios! {
    "start and wait" => tasks::start_and_wait,
    "start many" => tasks::start_many,
    "start on an event" => starts::start_on_an_event,
    "cancel on an event" => starts::cancel_on_an_event,
    "room for a durable call" => limits::room_for_a_durable_call,
    "room for several durable calls" => limits::room_for_several_durable_calls,
    "retries" => tasks::retries,
    "not retryable" => tasks::not_retryable,
    "a failure that can be read" => failures::a_failure_that_can_be_read,
    "retry after" => tasks::retry_after,
    "sleep across the kill of a worker" => processes::sleep_across_the_kill_of_a_worker (real_time),
    "sleep across the kill of the server" => processes::sleep_across_the_kill_of_the_server (real_time),
    "event before the wait" => waits::event_before_the_wait,
    "lookback" => waits::lookback,
    "waitpoint URL called before the handler waits" => waits::waitpoint_url_called_before_the_handler_waits,
    "signals in their order" => waits::signals_in_their_order,
    "pause with checkpoint" => waits::pause_with_checkpoint,
    "pause in a loop" => waits::pause_in_a_loop,
    "any, and the loser is cancelled" => waits::any_and_the_loser_is_cancelled,
    "any, and time wins" => waits::any_and_time_wins,
    "all" => waits::all,
    "branches that wait" => waits::branches_that_wait,
    "approve" => waits::approve,
    "notify" => waits::notify,
    "cancel" => tasks::cancel,
    "handlers of a failure and of a cancel" => operators::handlers_of_a_failure_and_of_a_cancel,
    "heartbeat loss" => processes::heartbeat_loss,
    "changed code" => builds::changed_code,
    "a wait that changed its kind" => builds::a_wait_that_changed_its_kind,
    "another event under the same name" => builds::another_event_under_the_same_name,
    "changed code that is to fail" => builds::changed_code_that_is_to_fail,
    "old and new code side by side" => builds::old_and_new_code_side_by_side,
    "a planned change" => builds::a_planned_change,
    "a run that stays with its build" => operators::a_run_that_stays_with_its_build,
    "a call with its own attempts" => calls::a_call_with_its_own_attempts,
    "a call that uses up its attempts" => calls::a_call_that_uses_up_its_attempts,
    "a call that takes too long" => calls::a_call_that_takes_too_long,
    "progress renews the attempts" => calls::progress_renews_the_attempts,
    "a retried run keeps its waits" => code::a_retried_run_keeps_its_waits,
    "a sleep that is over before it begins" => code::a_sleep_that_is_over_before_it_begins,
    "swallowed suspension" => code::swallowed_suspension,
    "a caught failure is remembered" => code::a_caught_failure_is_remembered,
    "a caught failure is remembered across a pause" => code::a_caught_failure_is_remembered_across_a_pause,
    "100 parallel runs" => code::a_hundred_parallel_runs,
    "unicode and large payloads" => tasks::unicode_and_large_payloads,
    "one trace" => tasks::one_trace,
    "refusals have codes" => tasks::refusals_have_codes,
    "history as it happens" => waits::history_as_it_happens,
    "drain" => processes::drain,
    "a graph in code" => tasks::a_graph_in_code,
    "thirty days" => waits::thirty_days,
    "a child" => children::a_child,
    "a child that is only started" => children::a_child_that_is_only_started,
    "a map of children, two at a time" => children::a_map_of_children_two_at_a_time,
    "a loser beside other waits is cancelled" => children::a_loser_beside_other_waits_is_cancelled,
    "values of the code in a wait for an event" => children::values_of_the_code_in_a_wait_for_an_event,
    "a log that is written once" => failures::a_log_that_is_written_once,
    "an approval that is edited by link" => approvals::an_approval_that_is_edited_by_link,
    "any over branches" => branches::any_over_branches,
    "all over branches and waits" => branches::all_over_branches_and_waits,
    "some of several waits" => branches::some_of_several_waits,
    "the first of several waits of a step" => branches::the_first_of_several_waits_of_a_step,
    "middleware around handlers and calls" => hooks::middleware_around_handlers_and_calls,
    "the language's own logger" => hooks::the_language_s_own_logger,
    "replay check" => replay::replay_check,
    "the engine makes the call" => http::the_engine_makes_the_call,
    "a worker's own key" => keys::a_worker_s_own_key,
}

/// A workflow of one task.
async fn one<F, Fut, O>(server: &TestServer, handle: F) -> Result<(), Error>
where
    F: Fn(Context, Json) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O>> + Send + 'static,
    O: serde::Serialize + Send + 'static,
{
    let quick = server.worker().grace(Duration::from_millis(100)).heartbeat(Duration::from_millis(50));
    quick.handler("work", handle).start();
    server.client.deploy(&workflow("one").task("work", "work")).await.map(drop)
}

/// How a run failed, and after how many attempts.
async fn failure<O>(server: &TestServer, run: &RunHandle<O>) -> Result<(wire::Failure, u32), Error> {
    let ended = server.skip_waits(run).await?;
    Ok((ended.error.unwrap(), ended.steps[0].attempt))
}

fn named<'a>(message: &str, names: &[&'a str]) -> Vec<&'a str> {
    names.iter().filter(|name| message.contains(&format!("`{name}`"))).copied().collect()
}

fn code_of<T>(result: Result<T, Error>) -> String {
    result.err().and_then(|error| error.code().map(str::to_owned)).unwrap_or_else(|| "none".to_owned())
}

/// Counts in several places.
#[derive(Debug, Clone, Default)]
struct Count(Arc<AtomicUsize>);

impl Count {
    fn up(&self) -> usize {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}
