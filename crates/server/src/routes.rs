//! Every route, one file a resource. A handler translates: parse, command, shape.

mod approvals;
mod audit;
mod backup;
mod book;
mod bulk;
mod check_runs;
mod clock;
mod costs;
mod dashboard;
mod definitions;
mod deliveries;
mod events;
mod feed;
mod health;
mod held;
mod history;
mod keys;
mod limits;
mod links;
mod moves;
mod overview;
mod resume;
mod runs;
mod schedules;
pub(crate) mod session;
mod signals;
mod signing;
mod tasks;
mod triggers;
mod waitpoints;
mod webhooks;
mod workers;
mod workspaces;

pub(crate) use resume::link_target;
pub(crate) use session::Sessions;
pub(crate) use tasks::Lease;

use axum::http::{Method, Uri};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::endpoint::Routes;
use crate::problem::{Code, Problem};

pub(crate) use dashboard::elsewhere;

pub(crate) fn all() -> Routes {
    Routes {
        groups: vec![
            definitions::routes(),
            runs::routes(),
            signals::routes(),
            history::routes(),
            feed::routes(),
            waitpoints::routes(),
            resume::routes(),
            events::routes(),
            triggers::routes(),
            approvals::routes(),
            tasks::routes(),
            workers::routes(),
            costs::routes(),
            schedules::routes(),
            limits::routes(),
            webhooks::routes(),
            deliveries::routes(),
            keys::routes(),
            links::routes(),
            signing::routes(),
            workspaces::routes(),
            audit::routes(),
            backup::routes(),
            overview::routes(),
            session::routes(),
            dashboard::routes(),
            held::routes(),
            health::routes(),
            clock::routes(),
        ],
    }
}

pub(crate) async fn not_found(uri: Uri) -> Problem {
    Problem::new(Code::NotFound, format!("there is nothing at `{}`; see `/docs`", uri.path()))
}

pub(crate) async fn method_not_allowed(method: Method, uri: Uri) -> Problem {
    Problem::new(Code::MethodNotAllowed, format!("`{}` does not take {method}", uri.path()))
}

/// How much of a list is asked for.
pub(crate) const PAGE: u32 = 50;
pub(crate) const LARGEST_PAGE: u32 = 500;

/// A part of a list, where nothing narrows it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PageQuery {
    /// The `nextCursor` of the page before.
    pub(crate) cursor: Option<String>,
    /// Items at most; 50 if absent.
    #[schemars(range(min = 1, max = LARGEST_PAGE))]
    pub(crate) limit: Option<u32>,
}

/// Of the payloads in a page: after so many bytes it ends, whatever was asked for, and its cursor goes on from there.
pub(crate) const PAGE_BYTES: usize = 2 * 1024 * 1024;
/// Items with payloads that are read at a time, so that no more than these are read in vain.
pub(crate) const SLICE: usize = 16;

pub(crate) fn page_size(limit: Option<u32>) -> usize {
    usize::try_from(limit.unwrap_or(PAGE)).unwrap_or(usize::MAX)
}
