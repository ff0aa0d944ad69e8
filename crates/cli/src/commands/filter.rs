//! What narrows a list, or says which of many a command is for.

use clap::Args;
use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::times;

#[derive(Debug, Args)]
pub(super) struct RunFilter {
    /// Only runs of this status: PENDING, RUNNING, WAITING, PAUSED, COMPLETED, FAILED, CANCELLED; commas between several
    #[arg(long, value_delimiter = ',', ignore_case = true, value_parser = ["PENDING", "RUNNING", "WAITING", "PAUSED", "COMPLETED", "FAILED", "CANCELLED"], hide_possible_values = true)]
    status: Vec<String>,
    /// Only runs of this workflow
    #[arg(long, value_name = "NAME")]
    workflow: Option<String>,
    /// Only runs with this tag
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// Only runs created at or after this instant
    #[arg(long, value_name = "INSTANT", value_parser = times::parse_instant)]
    created_from: Option<Timestamp>,
    /// Only runs created before this instant
    #[arg(long, value_name = "INSTANT", value_parser = times::parse_instant)]
    created_before: Option<Timestamp>,
    /// Only runs that wait for an event of this id
    #[arg(long, value_name = "EVENT")]
    event: Option<String>,
    /// Only runs that wait for this signal
    #[arg(long, value_name = "SIGNAL", conflicts_with = "event")]
    signal: Option<String>,
}

impl RunFilter {
    pub(super) fn query(&self) -> Vec<(&'static str, String)> {
        let status = (!self.status.is_empty()).then(|| self.status.join(",").to_uppercase());
        given([("status", status)].into_iter().chain(self.others()))
    }

    /// As a bulk command takes it.
    pub(super) fn json(&self) -> Value {
        let mut filter = object(self.others());
        let statuses: Vec<Value> = self.status.iter().map(|status| status.to_uppercase().into()).collect();
        if !statuses.is_empty() {
            filter.insert("status".to_owned(), statuses.into());
        }
        filter.into()
    }

    fn others(&self) -> impl Iterator<Item = (&'static str, Option<String>)> {
        [
            ("definition", self.workflow.clone()),
            ("tag", self.tag.clone()),
            ("createdFrom", self.created_from.map(|at| at.to_string())),
            ("createdBefore", self.created_before.map(|at| at.to_string())),
            ("eventId", self.event.clone()),
            ("signalType", self.signal.clone()),
        ]
        .into_iter()
    }
}

#[derive(Debug, Args)]
pub(super) struct WaitFilter {
    /// Only waits of this kind: DELAY, WEBHOOK, SIGNAL, EVENT, APPROVAL, CHILD, PAUSE, RETRY, SCHEDULE, CODE
    #[arg(long, ignore_case = true, value_parser = ["DELAY", "WEBHOOK", "SIGNAL", "EVENT", "APPROVAL", "CHILD", "PAUSE", "RETRY", "SCHEDULE", "CODE"], hide_possible_values = true)]
    kind: Option<String>,
    /// Only waits for this event id
    #[arg(long, value_name = "EVENT")]
    event: Option<String>,
    /// Only waits for this signal
    #[arg(long, value_name = "SIGNAL", conflicts_with = "event")]
    signal: Option<String>,
    /// Only waits that end, or whose deadline is, before this instant
    #[arg(long, value_name = "INSTANT", value_parser = times::parse_instant)]
    due_before: Option<Timestamp>,
    /// Only waits that end, or whose deadline is, at or after this instant
    #[arg(long, value_name = "INSTANT", value_parser = times::parse_instant)]
    due_after: Option<Timestamp>,
}

impl WaitFilter {
    pub(super) fn query(&self) -> Vec<(&'static str, String)> {
        given(self.fields())
    }

    pub(super) fn json(&self) -> Value {
        object(self.fields()).into()
    }

    fn fields(&self) -> impl Iterator<Item = (&'static str, Option<String>)> {
        [
            ("kind", self.kind.as_ref().map(|kind| kind.to_uppercase())),
            ("eventId", self.event.clone()),
            ("signalType", self.signal.clone()),
            ("dueBefore", self.due_before.map(|at| at.to_string())),
            ("dueAfter", self.due_after.map(|at| at.to_string())),
        ]
        .into_iter()
    }
}

fn given(fields: impl Iterator<Item = (&'static str, Option<String>)>) -> Vec<(&'static str, String)> {
    fields.filter_map(|(name, value)| Some((name, value?))).collect()
}

fn object(fields: impl Iterator<Item = (&'static str, Option<String>)>) -> Map<String, Value> {
    given(fields).into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()
}
