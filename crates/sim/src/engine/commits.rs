//! Commits on their way: refused, slow, out of order, written without an answer; and what other nodes hear of them.

use std::sync::Arc;
use std::time::Duration;

use abide_core::time::Millis;
use abide_engine::machine::{Control, Done, Input, RoundBatch, RoundNumber};
use abide_store::cluster::ClusterNotification;
use abide_store::tasks::TaskWrite;
use abide_store::{Batch, Error, FollowUpWrite};

use super::agenda::{Commit, Event, Fate, Life};
use super::defect::Defect;
use super::store::Kind;
use super::store::snapshots::SnapshotLog;
use super::world::World;
use crate::world::Check;

impl World {
    pub(super) fn send_commit(&mut self, life: Life, round: RoundNumber, batch: Arc<RoundBatch>) -> Check {
        let by = self.nodes[life.node].id;
        let fate = self.fate_of_commit();
        let way = self.way();
        if fate == Fate::Refused && self.setting.defect == Some(Defect::EarlyEffects) {
            drop(batch);
            self.answer_commit(life, round, Ok(()), self.now);
            return Ok(());
        }
        let seen = self.store.of(by).snapshots();
        let commit = Commit { life, by, round, batch, sent: self.now, seen, fate };
        self.after(way, Event::Commit(Box::new(commit)));
        Ok(())
    }

    fn fate_of_commit(&mut self) -> Fate {
        if self.fault(15) {
            Fate::Refused
        } else if self.store.kind() == Kind::Cluster && self.fault(60) {
            Fate::Unknown
        } else {
            Fate::Written
        }
    }

    /// How long a message is on its way: a moment, now and then much longer.
    pub(super) fn way(&mut self) -> Millis {
        if self.calm {
            return Millis(1);
        }
        let longest = self.pick(&[3, 3, 30, 30, 200, 3_000]).unwrap_or(3);
        Millis(1 + self.random.below(longest))
    }

    /// A commit arrives at the store, whoever sent it and whether that process still lives.
    pub(super) fn commit_arrives(&mut self, commit: Commit) -> Check {
        let Commit { life, by, round, batch, sent, seen, fate } = commit;
        if self.tells() {
            let told = describe(&batch.batch());
            self.tell(|| format!("node {}: commits {told}", life.node));
        }
        let result = match fate {
            Fate::Refused => Err(Error::Unavailable("the simulated store refuses the commit".to_owned())),
            Fate::Written | Fate::Unknown => self.write((by, &seen), life, &batch.batch()),
        };
        let result = match (fate, result) {
            (Fate::Unknown, Ok(())) => {
                Err(Error::Unavailable("it is not known whether it was written".to_owned()))
            }
            (_, result) => result,
        };
        self.tell(|| format!("node {}: its commit came to {result:?}", life.node));
        if matches!(result, Err(Error::Conflict(_) | Error::KeyUsed(_))) {
            self.report.conflicts += 1;
        }
        // Whoever committed lets go of the batch before the machine hears of it.
        drop(batch);
        if let Some(rule) = self.rules.broken.take() {
            return Err(rule);
        }
        self.answer_commit(life, round, result, sent);
        Ok(())
    }

    fn answer_commit(
        &mut self,
        life: Life,
        round: RoundNumber,
        result: Result<(), Error>,
        sent: jiff::Timestamp,
    ) {
        let took = Duration::from_millis(Millis::between(sent, self.now).0);
        let result = result.map_err(abide_engine::Error::from);
        let done = Box::new(Done::Committed { round, result, culprits: Vec::new(), took });
        // When the answer is lost on its way, the committer asks until it knows.
        let way = self.way();
        self.after(way, Event::Done { life, done });
    }

    fn write(
        &mut self,
        (by, seen): (abide_store::cluster::NodeId, &SnapshotLog),
        life: Life,
        batch: &Batch<'_>,
    ) -> Result<(), Error> {
        let store = self.store.of(by);
        self.rules.before(&self.store.state(), batch);
        store.write_seen(batch, seen)?;
        let broken = {
            let state = self.store.state();
            self.rules.committed(&state, &self.definitions, batch)
        };
        self.report.records += batch.runs.iter().map(|write| write.records.len() as u64).sum::<u64>();
        if let Err(rule) = broken {
            self.rules.broken.get_or_insert(rule);
        }
        if self.store.kind() == Kind::Cluster {
            self.notify_others(life, batch);
        }
        Ok(())
    }

    /// Other nodes hear of what was committed, most of the time.
    fn notify_others(&mut self, life: Life, batch: &Batch<'_>) {
        let changed = batch.runs.iter().map(|write| ClusterNotification::RunChanged {
            run: write.run.id,
            workspace: write.run.workspace,
            status: write.run.status,
            version: write.run.seq,
        });
        let ready = batch.tasks.iter().filter_map(|write| match write {
            TaskWrite::Put(task) if !task.is_taken => Some(ClusterNotification::TaskReady {
                workspace: task.workspace,
                queue: Arc::clone(&task.queue),
            }),
            TaskWrite::Put(_) | TaskWrite::Remove { .. } | TaskWrite::Renew { .. } => None,
        });
        let news: Vec<ClusterNotification> = changed.chain(ready).collect();
        for node in 0..self.nodes.len() {
            if node == life.node || !self.nodes[node].is_alive() || self.fault(8) {
                continue;
            }
            let way = self.way();
            let input = Box::new(Input::Request(Control::Notifications(news.clone()).into()));
            let life = self.life(node);
            self.after(way, Event::Arrive { life, input });
        }
    }

    /// The commits of a process that is gone: a store with one writer has them or not, before the next one opens it; a
    /// server may still write what reached it.
    pub(super) fn settle_commits(&mut self, life: Life) -> Check {
        for commit in self.agenda.take_commits(life) {
            match (self.chance(2), self.store.kind()) {
                (true, _) => {}
                (false, Kind::OneWriter) => self.commit_arrives(commit)?,
                (false, Kind::Cluster) => {
                    let way = self.way();
                    self.after(way, Event::Commit(Box::new(commit)));
                }
            }
        }
        Ok(())
    }
}

/// A batch, as a story tells it.
fn describe(batch: &Batch<'_>) -> String {
    let runs = batch.runs.iter().map(|write| {
        let records = write.records.iter().map(|record| format!("{} by {}", record.change.name(), record.by));
        format!("{} {} [{}]", write.run.id, write.run.status, records.collect::<Vec<_>>().join(", "))
    });
    let tasks = batch.tasks.iter().map(|write| match write {
        TaskWrite::Put(task) => {
            let (run, at, epoch) = (task.run, task.at, task.lease_epoch);
            format!("put {run} {at:?} {epoch} taken {} free at {}", task.is_taken, task.free_at)
        }
        TaskWrite::Remove { run, at, lease_epoch } => format!("remove {run} {at:?} {lease_epoch}"),
        TaskWrite::Renew { run, at, lease_epoch, .. } => format!("renew {run} {at:?} {lease_epoch}"),
    });
    let follow_ups = batch.follow_ups.iter().map(|write| match write {
        FollowUpWrite::Put(row) => format!("leave {:x} {:?}", row.id, row.what),
        FollowUpWrite::Change(row) => {
            format!("change {:x} to version {} {:?}", row.id, row.version, row.what)
        }
        FollowUpWrite::Remove(row) => format!("done {:x} of version {}", row.id, row.version),
    });
    runs.chain(tasks).chain(follow_ups).collect::<Vec<_>>().join("; ")
}
