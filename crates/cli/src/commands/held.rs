//! `abide held`, `hold` and `release`: what stands still, through a server or, where none can run, in its store.

use std::time::SystemTime;

use abide_sdk::wire::HeldItem;
use abide_store::{Held as Stored, Owner, Page as StorePage, Store};
use clap::Args;
use jiff::Timestamp;
use serde_json::json;

use super::{Api, Page, borrowed};
use crate::client::{Error, Exit, List};
use crate::console::Console;
use crate::place::Place;
use crate::table::{Table, shortening, whole};
use crate::times;

/// As many as are shown of a store at hand.
const OFFLINE_PAGE: usize = 10_000;

/// List runs and schedules that are held. Nothing is decided about them until they are released.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  abide held\n  abide held --store sqlite:abide.db")]
pub(crate) struct Held {
    /// Look into this store, a file or a database, without a server
    #[arg(long, value_name = "STORE")]
    store: Option<String>,
    #[command(flatten)]
    page: Page,
    #[command(flatten)]
    api: Api,
}

/// Hold a run or a schedule: nothing is decided about it until it is released.
#[derive(Debug, Args)]
#[command(
    after_help = "With --store no server is needed: for one that does not come up because of a run. A file must not be served meanwhile.\n\nExamples:\n  abide hold run_01j… --reason 'its handler charges twice'\n  abide hold sched_01j… --store sqlite:/var/lib/abide/abide.db"
)]
pub(crate) struct Hold {
    /// The id of a run or of a schedule
    #[arg(value_name = "ID")]
    id: String,
    /// Shown wherever it is
    #[arg(long, value_name = "TEXT", default_value = "held by hand")]
    reason: String,
    /// Write to this store, a file or a database, without a server
    #[arg(long, value_name = "STORE")]
    store: Option<String>,
    #[command(flatten)]
    api: Api,
}

/// Let a run or a schedule that is held go on from where it is.
#[derive(Debug, Args)]
#[command(
    after_help = "What came due meanwhile happens, and events and children that ended are heard of. One that is still damaged stays held.\n\nExamples:\n  abide release run_01j…\n  abide release sched_01j… --store sqlite:/var/lib/abide/abide.db"
)]
pub(crate) struct Release {
    /// The id of a run or of a schedule
    #[arg(value_name = "ID")]
    id: String,
    /// Write to this store, a file or a database, without a server
    #[arg(long, value_name = "STORE")]
    store: Option<String>,
    #[command(flatten)]
    api: Api,
}

impl Held {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        if let Some(store) = &self.store {
            let held =
                open(store)?.all_held(&StorePage { after: None, limit: OFFLINE_PAGE }).map_err(failed)?;
            let shown = |held: Stored| HeldItem {
                id: held.owner.to_string(),
                since: held.at,
                by: held.by,
                reason: held.reason,
            };
            return show(console, held.into_iter().map(shown).collect());
        }
        let query = self.page.query();
        let answer = self.api.open()?.get(&["held"], &borrowed(&query)).await?;
        self.api.show(console, &answer, |console, list: List<HeldItem>| {
            show(console, list.data).map_err(std::io::Error::other)?;
            Page::note_rest(console, list.next_cursor.as_deref())
        })
    }
}

fn show(console: &mut Console<'_>, held: Vec<HeldItem>) -> Result<(), Error> {
    let now = console.now();
    let mut table = Table::new([whole("ID"), whole("SINCE"), whole("BY"), shortening("REASON")]);
    for item in held {
        table.row([item.id, times::relative(item.since, now), item.by, item.reason]);
    }
    Ok(console.table(&table)?)
}

impl Hold {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        if let Some(store) = &self.store {
            let (owner, mut store) = (owner(&self.id)?, open(store)?);
            let at = Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::UNIX_EPOCH);
            let workspace = store.workspace_of(owner.id()).ok().flatten();
            let (by, reason) = ("cli".to_owned(), self.reason.clone());
            let held = Stored { owner, workspace, at, by, reason };
            let already = if store.hold(&held).map_err(failed)? { "" } else { " already" };
            return Ok(console.line(&format!("{owner} is held{already}"))?);
        }
        let body = json!({ "id": self.id, "reason": self.reason });
        let answer = self.api.open()?.post(&["held"], &body).await?;
        self.api.show(console, &answer, |console, held: HeldItem| {
            console.line(&format!("{} is held: {}", held.id, held.reason))
        })
    }
}

impl Release {
    pub(super) async fn run(&self, console: &mut Console<'_>) -> Result<(), Error> {
        if let Some(store) = &self.store {
            let owner = owner(&self.id)?;
            if !open(store)?.release(owner).map_err(failed)? {
                console.note(&format!("abide: {owner} is not held"))?;
                return Err(Error::Said(Exit::NotFound));
            }
        } else {
            self.api.open()?.delete(&["held", &self.id]).await?;
        }
        Ok(console.line(&format!("{} goes on", self.id))?)
    }
}

fn owner(id: &str) -> Result<Owner, Error> {
    let bad = || Error::Usage(format!("`{id}` is not the id of a run or of a schedule"));
    id.parse().map_err(|_| bad())
}

fn open(store: &str) -> Result<Box<dyn Store>, Error> {
    Place::given("--store", store)?.open().map_err(failed)
}

fn failed(error: abide_store::Error) -> Error {
    Error::Failed(error.to_string())
}
