//! One node, in a process of its own: it does what it is told, line by line, and ends when whoever tells it does.

use std::io::{self, BufRead, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use abide_engine::{Engine, Histogram, Options, SendEvent, Stats};
use abide_store::postgres::{Postgres, Sent};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::notes::Pen;
use crate::child::{self, Serving};
use crate::sleeper::{self, Due};
use crate::starters::{self, Pace};
use crate::{events, long, machine, open, three_steps};

/// A node, for the process that started it
#[derive(Debug, Args)]
pub(crate) struct Node {}

/// What a node is told. It answers each with one line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// The first: to open the store, and to note who wakes in this file. Answered by [`Serving`].
    Open {
        address: String,
        notes: PathBuf,
    },
    /// Answered by [`Serving`] when a run is started.
    Probe,
    /// Runs of three steps. Answered by a [`Pace`], as all that follow.
    Complete {
        count: usize,
        starters: usize,
    },
    Sleep {
        which: Range<usize>,
        of: usize,
        starters: usize,
        due: Due,
    },
    Listen {
        which: Range<usize>,
        starters: usize,
    },
    Notify {
        which: Range<usize>,
        starters: usize,
    },
    /// Runs that are RUNNING and stay so.
    Park {
        which: Range<usize>,
        starters: usize,
    },
    /// To do this node's part of a run that grows, and to start it if the workflow is given. Answered by nothing.
    Grow {
        node: usize,
        workflow: Option<String>,
    },
    /// Answered by [`Counted`].
    Count,
    /// Answered by nothing, when the engine is shut down.
    Stop,
}

/// What a node has done since it was opened.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Counted {
    pub(super) commits: u64,
    pub(super) records: u64,
    pub(super) conflicts: u64,
    pub(super) batch: Histogram,
    pub(super) commit_us: Histogram,
    pub(super) statements: u64,
    pub(super) cpu_seconds: Option<f64>,
    pub(super) resident: Option<u64>,
}

/// What a node answers: what was asked for, or why not.
pub(super) type Answer<T> = Result<T, String>;

impl Node {
    pub(crate) async fn run(self, out: &mut dyn Write) -> anyhow::Result<()> {
        let mut opened: Option<Opened> = None;
        for line in io::stdin().lock().lines() {
            let order: Order = serde_json::from_str(&line?)?;
            let done = match (order, opened.take()) {
                (Order::Open { address, notes }, _) => match Opened::open(&address, notes).await {
                    Ok((node, serving)) => {
                        opened = Some(node);
                        child::say(out, &Answer::Ok(serving))
                    }
                    Err(error) => Err(error),
                },
                (Order::Stop, Some(node)) => {
                    node.engine.shut_down().await?;
                    return child::say(out, &Answer::Ok(()));
                }
                (order, Some(node)) => {
                    let done = node.follow(order, out).await;
                    opened = Some(node);
                    done
                }
                (_, None) => Err(anyhow::anyhow!("a node is opened first")),
            };
            if let Err(error) = done {
                child::say(out, &Answer::<()>::Err(format!("{error:#}")))?;
            }
        }
        Ok(())
    }
}

struct Opened {
    engine: Engine,
    sent: Sent,
    open_ms: f64,
}

impl Opened {
    async fn open(address: &str, notes: PathBuf) -> anyhow::Result<(Opened, Serving)> {
        let begun = Instant::now();
        let store = Postgres::open(address)?;
        let sent = store.sent();
        let engine = Engine::open_with(Box::new(store), Options::default()).await?;
        let open_ms = begun.elapsed().as_secs_f64() * 1000.0;
        sleeper::deploy(&engine).await?;
        three_steps::deploy(&engine).await?;
        engine.deploy(events::workflow()).await?;
        Arc::new(Pen::new(&notes)?).watch(&engine).await?;
        let node = Opened { engine, sent, open_ms };
        let serving = node.serving();
        Ok((node, serving))
    }

    fn serving(&self) -> Serving {
        Serving { open_ms: self.open_ms, resident: machine::resident_bytes() }
    }

    async fn follow(&self, order: Order, out: &mut dyn Write) -> anyhow::Result<()> {
        let engine = &self.engine;
        let pace = match order {
            Order::Probe => {
                sleeper::probe(engine).await?;
                return child::say(out, &Answer::Ok(self.serving()));
            }
            Order::Grow { node, workflow } => {
                long::handle(engine, node).await?;
                if let Some(workflow) = workflow {
                    engine.deploy(serde_json::from_str(&workflow)?).await?;
                    engine.start(long::WORKFLOW, long::input()).await?;
                }
                return child::say(out, &Answer::Ok(()));
            }
            Order::Park { which, starters } => open::park(engine, which, starters).await?,
            Order::Count => return child::say(out, &Answer::Ok(self.count().await?)),
            Order::Complete { count, starters } => {
                three_steps::complete("completed", engine, count, starters).await?
            }
            Order::Sleep { which, of, starters, due } => {
                sleeper::create(engine, which, of, starters, due).await?
            }
            Order::Listen { which, starters } => listen(engine, which, starters).await?,
            Order::Notify { which, starters } => notify(engine, which, starters).await?,
            Order::Open { .. } | Order::Stop => anyhow::bail!("a node is opened and stopped once"),
        };
        child::say(out, &Answer::Ok(pace))
    }

    async fn count(&self) -> anyhow::Result<Counted> {
        let Stats { commits, records, conflicts, batch, commit_us, .. } = self.engine.stats().await?;
        Ok(Counted {
            commits,
            records,
            conflicts,
            batch,
            commit_us,
            statements: self.sent.count(),
            cpu_seconds: machine::cpu_seconds(),
            resident: machine::resident_bytes(),
        })
    }
}

async fn listen(engine: &Engine, which: Range<usize>, starters: usize) -> anyhow::Result<Pace> {
    let (engine, first) = (engine.clone(), which.start);
    starters::repeat("waiting", which.len(), starters, move |index| {
        let (engine, n) = (engine.clone(), first + index);
        async move {
            engine.start(events::WORKFLOW, json!({ "n": n })).await?;
            Ok(())
        }
    })
    .await
}

/// The run of an event ends in the same commit, so that its answer is the end of the run, too.
async fn notify(engine: &Engine, which: Range<usize>, starters: usize) -> anyhow::Result<Pace> {
    let (engine, first) = (engine.clone(), which.start);
    starters::repeat("events", which.len(), starters, move |index| {
        let (engine, event_id) = (engine.clone(), events::event_id(first + index));
        async move {
            let told = engine.default_workspace().events().send(SendEvent::new(event_id)).await?;
            anyhow::ensure!(told.waiters.len() == 1, "an event woke {} runs", told.waiters.len());
            Ok(())
        }
    })
    .await
}
