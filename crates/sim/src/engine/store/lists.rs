//! Lists, by looking at all there is: worlds are small.

use abide_core::id::{RunId, WaitpointId, WorkspaceId};
use abide_core::run::Run;
use abide_core::status::RunStatus;
use abide_core::waitpoint::{Kind, ListensFor, Waitpoint};
use abide_store::{Due, Page, RunFilter, RunSummary, WaitpointFilter, WaitpointSummary};
use jiff::Timestamp;

use super::State;

impl State {
    pub(super) fn list_runs(&self, filter: &RunFilter, page: &Page<RunId>) -> Vec<RunSummary> {
        let before = page.after.unwrap_or(RunId(u128::MAX));
        let rows = self.runs.range(..before).rev().map(|(_, row)| row);
        rows.filter(|row| is_listed(&row.run, filter)).take(page.limit).map(|row| row.summary()).collect()
    }

    pub(super) fn list_waitpoints(
        &self,
        filter: &WaitpointFilter,
        page: &Page<(Option<Timestamp>, WaitpointId)>,
    ) -> Vec<WaitpointSummary> {
        let of_runs = self.runs.values().flat_map(|row| {
            let waits = row.run.waitpoints();
            waits.map(|wait| summary(row.run.waitpoint_id(wait.number), row.run.workspace, wait))
        });
        let of_schedules = self.schedules.values().flat_map(|schedule| {
            let waits = schedule.waits();
            waits.map(|wait| summary(schedule.waitpoint_id(wait.number), schedule.workspace, wait))
        });
        let order = |at: Option<Timestamp>, id: WaitpointId| (at.is_none(), at, id);
        let after = page.after.map(|(at, id)| order(at, id));
        let mut found: Vec<WaitpointSummary> = of_runs
            .chain(of_schedules)
            .filter(|wait| is_wait_listed(wait, filter))
            .filter(|wait| after.is_none_or(|after| order(wait.resume_at, wait.id) > after))
            .collect();
        found.sort_by_key(|wait| order(wait.resume_at, wait.id));
        found.truncate(page.limit);
        found
    }

    pub(super) fn counts(&self, workspace: Option<WorkspaceId>) -> Vec<(RunStatus, u64)> {
        let mut counts: Vec<(RunStatus, u64)> =
            RunStatus::ALL.into_iter().map(|status| (status, 0)).collect();
        let here = |run: &Run| workspace.is_none_or(|workspace| workspace == run.workspace);
        for row in self.runs.values().filter(|row| here(&row.run)) {
            if let Some((_, count)) = counts.iter_mut().find(|(status, _)| *status == row.run.status) {
                *count += 1;
            }
        }
        counts
    }

    pub(super) fn count_open_waits(
        &self,
        workspace: WorkspaceId,
        kind: Kind,
        due: Due,
        limit: usize,
    ) -> usize {
        let filter = WaitpointFilter {
            workspace: Some(workspace),
            kind: Some(kind),
            status: Some(abide_core::status::WaitStatus::Pending),
            ..WaitpointFilter::default()
        };
        let all = self.list_waitpoints(&filter, &Page { after: None, limit: usize::MAX });
        let is_due = |wait: &&WaitpointSummary| match due {
            Due::Ever => true,
            Due::Before(until) => wait.resume_at.is_some_and(|at| at < until),
            Due::Between(from, until) => wait.resume_at.is_some_and(|at| at >= from && at < until),
        };
        all.iter().filter(is_due).take(limit).count()
    }
}

fn is_listed(run: &Run, filter: &RunFilter) -> bool {
    let RunFilter {
        workspace,
        statuses,
        definition,
        version,
        tag,
        created_from,
        created_before,
        waits_for,
        listens_for,
    } = filter;
    let waits = |wait: &Waitpoint| {
        waits_for.is_none_or(|kind| kind == wait.kind)
            && listens_for.as_ref().is_none_or(|name| listened_for(wait).as_ref() == Some(name))
    };
    workspace.is_none_or(|workspace| workspace == run.workspace)
        && (statuses.is_empty() || statuses.contains(&run.status))
        && definition.as_ref().is_none_or(|name| *run.definition_ref.name == **name)
        && version.as_ref().is_none_or(|version| *run.definition_ref.version == **version)
        && tag.as_ref().is_none_or(|tag| run.tags.iter().any(|own| **own == **tag))
        && created_from.is_none_or(|from| run.created_at >= from)
        && created_before.is_none_or(|before| run.created_at < before)
        && ((waits_for.is_none() && listens_for.is_none()) || run.open_waitpoints().any(waits))
}

fn is_wait_listed(wait: &WaitpointSummary, filter: &WaitpointFilter) -> bool {
    let WaitpointFilter { workspace, run, kind, status, due_before, due_after, listens_for } = filter;
    workspace.is_none_or(|workspace| workspace == wait.workspace)
        && run.is_none_or(|run| run == wait.id.run)
        && kind.is_none_or(|kind| kind == wait.kind)
        && status.is_none_or(|status| status == wait.status)
        && due_before.is_none_or(|before| wait.resume_at.is_some_and(|at| at < before))
        && due_after.is_none_or(|after| wait.resume_at.is_some_and(|at| at > after))
        && listens_for.as_ref().is_none_or(|name| wait.listens_for.as_ref() == Some(name))
}

fn summary(id: WaitpointId, workspace: WorkspaceId, wait: &Waitpoint) -> WaitpointSummary {
    WaitpointSummary {
        id,
        workspace,
        kind: wait.kind,
        status: wait.status,
        created_at: wait.created_at,
        resume_at: wait.resume_at,
        listens_for: listened_for(wait),
    }
}

fn listened_for(wait: &Waitpoint) -> Option<String> {
    match &wait.listens_for {
        ListensFor::Signal { signal_type } => Some(signal_type.to_string()),
        ListensFor::Event(filter) => Some(filter.event_id.to_string()),
        ListensFor::Time
        | ListensFor::Call { .. }
        | ListensFor::Approval(_)
        | ListensFor::Child { .. }
        | ListensFor::Attempt(_)
        | ListensFor::Code(_)
        | ListensFor::Capacity(_)
        | ListensFor::Starts(_) => None,
    }
}
