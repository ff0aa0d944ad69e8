//! Runs and waits as people name them: the beginning of an id, `latest`, or the one wait of a run.

use abide_core::id::{RunId, WaitpointId};
use abide_sdk::wire::{RunSummary, Waitpoint};
use jiff::Timestamp;

use super::{Client, Error, List};

/// What stands for the run that was created last.
pub(crate) const LATEST: &str = "latest";
const RUN: &str = "run_";
const ID_CHARS: usize = 26;
/// The instant of creation is in front of 80 further bits.
const AFTER_TIME_BITS: u32 = 80;
const PAGE: &str = "500";

impl Client {
    /// The run's whole id.
    pub(crate) async fn find_run(&self, named: &str) -> Result<String, Error> {
        if named.parse::<RunId>().is_ok() {
            return Ok(named.to_owned());
        }
        if named == LATEST {
            let newest: List<RunSummary> = self.read(&["workflow-runs"], &[("limit", "1")]).await?;
            let none = || Error::NotFound("there is no run yet; `abide start NAME` starts one".to_owned());
            return newest.data.into_iter().next().map(|run| run.id).ok_or_else(none);
        }
        let Some((from, before)) = created_between(named) else {
            return Err(Error::NotFound(format!(
                "`{named}` is not a run: give its id (`{RUN}…`), the beginning of one, or `{LATEST}`"
            )));
        };
        let (from, before) = (from.to_string(), before.to_string());
        let query = [("createdFrom", from.as_str()), ("createdBefore", before.as_str()), ("limit", PAGE)];
        let found: List<RunSummary> = self.read(&["workflow-runs"], &query).await?;
        let is_whole = found.next_cursor.is_none();
        let ids: Vec<String> =
            found.data.into_iter().map(|run| run.id).filter(|id| id.starts_with(named)).collect();
        match ids.as_slice() {
            [] if is_whole => Err(Error::NotFound(format!("no run's id begins with `{named}`"))),
            [only] if is_whole => Ok(only.clone()),
            [first, second, ..] => Err(Error::Usage(format!(
                "more than one run's id begins with `{named}`, among them {first} and {second}"
            ))),
            [] | [_] => {
                Err(Error::Usage(format!("too many runs' ids begin like `{named}`; give more of it")))
            }
        }
    }

    /// The waitpoint's whole id: it was named itself, or it is the only one like it that its run waits for.
    pub(crate) async fn find_wait(
        &self,
        named: &str,
        step: Option<&str>,
        kind: Option<&str>,
    ) -> Result<String, Error> {
        if named.parse::<WaitpointId>().is_ok() {
            return Ok(named.to_owned());
        }
        if named.starts_with("wp_") {
            return Err(Error::NotFound(format!("`{named}` is not a whole id; `abide waits` shows them")));
        }
        let run = self.find_run(named).await?;
        let mut query = vec![("runId", run.as_str()), ("status", "PENDING"), ("limit", PAGE)];
        query.extend(kind.map(|kind| ("kind", kind)));
        let found: List<Waitpoint> = self.read(&["waitpoints"], &query).await?;
        let mut waits = found.data;
        waits.retain(|wait| step.is_none_or(|step| is_of(wait, step)));
        match waits.as_slice() {
            [only] => Ok(only.id.clone()),
            [] => {
                // An unknown run is told as such.
                self.get(&["workflow-runs", &run], &[]).await?;
                let what = kind.map_or("nothing", |_| "no decision");
                let of = step.map(|step| format!(" in `{step}`")).unwrap_or_default();
                Err(Error::NotFound(format!("{run} waits for {what}{of}; `abide show {run}` says how it is")))
            }
            many => {
                let ids: Vec<String> = many
                    .iter()
                    .map(|wait| format!("  {}  {}", wait.id, whose_is(wait).unwrap_or_default()))
                    .collect();
                Err(Error::Usage(format!("{run} has more than one wait; name one:\n{}", ids.join("\n"))))
            }
        }
    }
}

/// Whether a wait is of this step: named by the step, by the durable call, or by both.
fn is_of(wait: &Waitpoint, step: &str) -> bool {
    [wait.step_name.as_deref(), wait.call.as_deref(), whose_is(wait).as_deref()].contains(&Some(step))
}

fn whose_is(wait: &Waitpoint) -> Option<String> {
    whose(wait.step_name.as_deref(), wait.call.as_deref())
}

/// Whose a wait is, for people: its step, and the durable call of its handler if one waits.
pub(crate) fn whose(step: Option<&str>, call: Option<&str>) -> Option<String> {
    let step = step?;
    Some(call.map_or_else(|| step.to_owned(), |call| format!("{step} › {call}")))
}

/// An id begins with its instant, so the beginning of one is a span of time.
fn created_between(beginning: &str) -> Option<(Timestamp, Timestamp)> {
    let digits = beginning.strip_prefix(RUN)?;
    if digits.is_empty() || digits.chars().count() > ID_CHARS {
        return None;
    }
    let ms = |fill: char| {
        let padded: String = digits.chars().chain(std::iter::repeat(fill)).take(ID_CHARS).collect();
        let id: RunId = format!("{RUN}{padded}").parse().ok()?;
        i64::try_from(id.0 >> AFTER_TIME_BITS).ok()
    };
    let from = Timestamp::from_millisecond(ms('0')?).ok()?;
    let before = ms('z')?.checked_add(1)?;
    Some((from, Timestamp::from_millisecond(before).unwrap_or(Timestamp::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_an_id_is_a_span_of_time_around_its_creation() {
        let now: Timestamp = "2026-11-16T00:00:00.123Z".parse().unwrap();
        let id = RunId::new(now, 12_345).to_string();
        for length in 5..=id.len() {
            let (from, before) = created_between(&id[..length]).unwrap();
            assert!(from <= now && now < before, "{length}: {from} {before}");
        }
        let (from, before) = created_between(&id[..id.len() - 1]).unwrap();
        assert_eq!((from, before.as_millisecond()), (now, now.as_millisecond() + 1));
    }

    #[test]
    fn what_is_not_the_beginning_of_an_id_is_no_span() {
        for text in ["", "run_", "wp_0", "run_z", "run_0u", "run_00000000000000000000000000000"] {
            assert_eq!(created_between(text), None, "{text}");
        }
    }
}
