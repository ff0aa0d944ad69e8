//! Which limits there are by what workflows say, so that a name that nobody has is told from one that nobody uses now.

use std::collections::BTreeSet;

use abide_core::capacity::Limit;
use abide_core::definition::LimitScope;
use abide_core::definition::problem::nearest;
use abide_engine::stored::Page;

use super::LimitName;
use crate::app::App;
use crate::caller::Caller;
use crate::problem::{Code, Problem};

/// How many versions of workflows are looked at for limits that workflows share, the newest first.
const VERSIONS: usize = 2_000;
/// Versions of workflows are looked up in pages of this size.
const PAGE: usize = 500;

impl App {
    /// Whether the newest version of the workflow has a limit of this name, or of any workflow one that all share.
    pub(super) async fn is_defined(&self, caller: &Caller, asked: &LimitName) -> Result<bool, Problem> {
        Ok(self.defined(caller, asked).await?.contains(&*asked.name))
    }

    /// There is no limit of this name: which one may be meant.
    pub(super) async fn unknown(&self, caller: &Caller, asked: &LimitName) -> Result<Problem, Problem> {
        let mut known = self.defined(caller, asked).await?;
        let all = self.engine.workspace(caller.workspace).limits();
        let used = all.list(None, Page { after: None, limit: PAGE }).await?;
        let used = used.into_iter().filter(|limit| limit.workflow == asked.workflow);
        let set = all.settings(None).await?.into_iter().filter(|set| set.workflow == asked.workflow);
        known.extend(used.map(|limit| limit.name.to_string()));
        known.extend(set.map(|set| set.name.to_string()));
        known.retain(|name| !Limit::is_own(name));
        let whose = asked.workflow.as_ref().map_or_else(
            || "that workflows share; say `workflow` for one of a workflow".to_owned(),
            |workflow| format!("of the workflow `{workflow}`"),
        );
        let near = nearest(&asked.name, known.iter().map(String::as_str));
        let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        Ok(Problem::new(Code::UnknownLimit, format!("there is no limit `{}` {whose}{near}", asked.name)))
    }

    /// The names of the limits of a workflow, or of those that workflows share.
    async fn defined(&self, caller: &Caller, asked: &LimitName) -> Result<BTreeSet<String>, Problem> {
        let definitions = self.engine.workspace(caller.workspace).definitions();
        let mut names = BTreeSet::new();
        if let Some(workflow) = &asked.workflow {
            let newest = definitions.newest(workflow).await?;
            let of_it = newest.iter().flat_map(|definition| definition.all_limits());
            names.extend(of_it.map(|limit| limit.name.to_string()));
            return Ok(names);
        }
        let (mut after, mut looked_at, mut workflows) = (None, 0, BTreeSet::new());
        while looked_at < VERSIONS {
            let page = definitions.list(None, Page { after, limit: PAGE }).await?;
            (after, looked_at) = (page.last().map(|last| last.id), looked_at + PAGE);
            let is_last = page.len() < PAGE;
            workflows.extend(page.into_iter().map(|version| version.name));
            if is_last {
                break;
            }
        }
        for workflow in workflows {
            let newest = definitions.newest(&workflow).await?;
            let shared = newest.iter().flat_map(|definition| definition.all_limits());
            let shared = shared.filter(|limit| limit.scope == LimitScope::Workspace);
            names.extend(shared.map(|limit| limit.name.to_string()));
        }
        Ok(names)
    }
}
