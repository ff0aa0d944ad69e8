//! What was answered is so: whatever an engine acknowledges or hands out is in the store.

use abide_core::command::Reply;
use abide_core::event_start::EventStartOutcome;
use abide_core::history::{Change, Record};
use abide_core::id::RunId;
use abide_core::refusal::Refusal;
use abide_engine::{Error, EventSent, Leased, Stats};
use tokio::sync::oneshot::error::TryRecvError;

use super::calls::{Answered, Call, CommandCall, EventCall, PendingCall, Retry, StartCall};
use super::debounce;
use super::workers::InHand;
use super::world::World;
use crate::world::Check;

/// What came of a call, so far.
enum Heard<T> {
    Nothing(Answered<T>),
    Answer(T),
    Error(Error),
    /// The node is gone, or has lost the call; whether it was carried out, nobody knows.
    Lost,
}

fn hear<T>(mut answer: Answered<T>) -> Heard<T> {
    match answer.try_recv() {
        Ok(Ok(answered)) => Heard::Answer(answered),
        Ok(Err(error)) => Heard::Error(error),
        Err(TryRecvError::Empty) => Heard::Nothing(answer),
        Err(TryRecvError::Closed) => Heard::Lost,
    }
}

impl World {
    /// Takes the answers of a node, and checks each.
    pub(super) fn hear_answers(&mut self, node: usize) -> Check {
        let mut index = 0;
        while index < self.calls.len() {
            if self.calls[index].node != node {
                index += 1;
                continue;
            }
            let Call { node, asked } = self.calls.swap_remove(index);
            if let Some(asked) = self.take_answer(asked)? {
                // It is put back where it was.
                self.calls.push(Call { node, asked });
                let last = self.calls.len() - 1;
                self.calls.swap(index, last);
                index += 1;
            }
        }
        Ok(())
    }

    fn take_answer(&mut self, asked: PendingCall) -> Check<Option<PendingCall>> {
        match asked {
            PendingCall::Start { start, answer } => match hear(answer) {
                Heard::Nothing(answer) => return Ok(Some(PendingCall::Start { start, answer })),
                Heard::Answer(started) => self.was_started(&start, started.run)?,
                Heard::Error(error) => self.failed(&error, Retry::Start(start))?,
                // Without a key, asking again would start another.
                Heard::Lost if start.key.is_some() => self.retries.push_back(Retry::Start(start)),
                Heard::Lost => {}
            },
            PendingCall::StartMany { starts, answer } => match hear(answer) {
                Heard::Nothing(answer) => return Ok(Some(PendingCall::StartMany { starts, answer })),
                Heard::Answer(answers) => {
                    if answers.len() != starts.len() {
                        return Err(format!("{} starts had {} answers", starts.len(), answers.len()));
                    }
                    for (start, answer) in starts.into_iter().zip(answers) {
                        match answer {
                            Ok(started) => self.was_started(&start, started.run)?,
                            Err(error) => self.failed(&error, Retry::Start(start))?,
                        }
                    }
                }
                Heard::Error(error) => {
                    for start in starts {
                        self.failed(&error, Retry::Start(start))?;
                    }
                }
                Heard::Lost => {
                    let keyed = starts.into_iter().filter(|start| start.key.is_some());
                    self.retries.extend(keyed.map(Retry::Start));
                }
            },
            PendingCall::Command { command, answer } => match hear(answer) {
                Heard::Nothing(answer) => return Ok(Some(PendingCall::Command { command, answer })),
                Heard::Answer(reply) => self.was_done(&command, &reply)?,
                Heard::Error(error) => self.failed(&error, Retry::Command(command))?,
                Heard::Lost => self.retries.push_back(Retry::Command(command)),
            },
            PendingCall::Event { event, answer } => match hear(answer) {
                Heard::Nothing(answer) => return Ok(Some(PendingCall::Event { event, answer })),
                Heard::Answer(notified) => self.was_sent(&event, &notified)?,
                Heard::Error(error) => self.failed(&error, Retry::Event(event))?,
                Heard::Lost => self.retries.push_back(Retry::Event(event)),
            },
            PendingCall::Poll { worker, answer } => match hear(answer) {
                Heard::Nothing(answer) => return Ok(Some(PendingCall::Poll { worker, answer })),
                Heard::Answer(handed) => {
                    for leased in handed.take() {
                        self.was_handed_out(&worker, &leased)?;
                    }
                }
                Heard::Error(_) | Heard::Lost => {}
            },
            PendingCall::SetLimit { settings, answer } => {
                if let Heard::Nothing(answer) = hear(answer) {
                    return Ok(Some(PendingCall::SetLimit { settings, answer }));
                }
                let ordered = &mut self.store.state().ordered;
                let answered = ordered.iter().position(|order| *order == settings);
                answered.map(|order| ordered.swap_remove(order));
            }
            PendingCall::Schedule { answer } => match hear(answer) {
                Heard::Nothing(answer) => return Ok(Some(PendingCall::Schedule { answer })),
                Heard::Answer(ordered) => {
                    let id = ordered.schedule.id;
                    if !self.schedules.contains(&id) {
                        self.schedules.push(id);
                    }
                }
                Heard::Error(_) | Heard::Lost => {}
            },
            PendingCall::Stats { answer } => match hear(answer) {
                Heard::Nothing(answer) => return Ok(Some(PendingCall::Stats { answer })),
                Heard::Answer(stats) => self.stats.push(stats),
                Heard::Error(_) | Heard::Lost => {}
            },
        }
        Ok(None)
    }

    fn was_started(&mut self, start: &StartCall, run: RunId) -> Check {
        self.tell(|| format!("{} was started as {run}", start.name));
        if !self.store.state().runs.contains_key(&run) {
            return Err(format!("{run} was acknowledged, and is not in the store"));
        }
        debounce::check_acknowledged(&self.store.state(), &start.input, run)?;
        let Some(key) = &start.key else { return Ok(()) };
        match self.started.insert(key.clone(), run) {
            Some(before) if before != run => Err(format!("the key `{key}` started {before} and {run}")),
            Some(_) | None => Ok(()),
        }
    }

    fn was_done(&mut self, call: &CommandCall, reply: &Reply) -> Check {
        self.tell(|| format!("{} was answered {reply:?}", call.by));
        let state = self.store.state();
        let Some(row) = state.runs.get(&call.run) else {
            return Err(format!("{} was answered {reply:?}, and is not in the store", call.run));
        };
        if let Some(key) = &call.key {
            let is_there = state.idempotency.keys().any(|known| known.ends_with(key.as_str()));
            let changes_nothing = matches!(reply, Reply::Unchanged | Reply::Repeated(_));
            return if is_there || changes_nothing {
                Ok(())
            } else {
                Err(format!("the answer under `{key}` was given, and is not in the store"))
            };
        }
        let has_record = match reply {
            Reply::Unchanged | Reply::Repeated(_) | Reply::Leased { .. } => return Ok(()),
            // One of that name may have been there before.
            Reply::Waitpoint(wait) => row.run.waitpoint(wait.number).is_some(),
            Reply::Done
            | Reply::Started(_)
            | Reply::Collected(_)
            | Reply::Signalled { .. }
            | Reply::EventSent { .. }
            | Reply::Voted { .. } => row.history.iter().any(|record| *record.by.0 == *call.by),
        };
        if has_record {
            Ok(())
        } else {
            Err(format!("{} was answered {reply:?}, and nothing of it is in the store", call.by))
        }
    }

    fn was_sent(&mut self, call: &EventCall, notified: &EventSent) -> Check {
        self.tell(|| format!("event {} was answered {notified:?}", call.event_id));
        let state = self.store.state();
        let Some(id) = notified.id else { return Err("an event was not stored".to_owned()) };
        if !state.events.iter().any(|row| row.event.id == id) {
            return Err(format!("{id} was acknowledged, and is not in the store"));
        }
        drop(state);
        self.sent.insert(id);
        let state = self.store.state();
        if let Some(sender) = &call.sender {
            let is_its =
                |record: &&Record| matches!(record.change, Change::EventSent { event, .. } if event == id);
            let noted =
                state.runs.get(&sender.run).map_or(0, |row| row.history.iter().filter(is_its).count());
            if noted != 1 {
                return Err(format!("{id} was sent by {}, whose history has it {noted} times", sender.by));
            }
        }
        for start in &notified.starts {
            if let EventStartOutcome::Started(run)
            | EventStartOutcome::Collected(run)
            | EventStartOutcome::Repeated(run) = start.outcome
                && !state.runs.contains_key(&run)
            {
                return Err(format!("{id} is said to have started {run}, which is not in the store"));
            }
        }
        for wait in &notified.waiters {
            let took = state.runs.get(&wait.run).is_some_and(|row| {
                row.history.iter().any(|record| {
                    matches!(record.change, Change::EventMatched { number, event, .. }
                        if number == wait.number && event == id)
                })
            });
            if !took {
                return Err(format!("{wait} is said to have taken {id}, and has not"));
            }
        }
        Ok(())
    }

    fn was_handed_out(&mut self, worker: &str, leased: &Leased) -> Check {
        let (run, at, epoch) = (leased.task.run_id, leased.at, leased.task.lease_epoch);
        self.tell(|| format!("{worker} has {run} {at:?}, epoch {epoch}"));
        let state = self.store.state();
        let is_its = |change: &Change| {
            matches!(change, Change::TaskStarted { at: taken, lease_epoch, worker: by, .. }
                if *taken == at && *lease_epoch == epoch && **by == *worker)
        };
        let row = state.runs.get(&run);
        if !row.is_some_and(|row| row.history.iter().any(|record| is_its(&record.change))) {
            return Err(format!(
                "{worker} was handed {run} {at:?} with epoch {epoch}, and the store does not say so"
            ));
        }
        drop(state);
        self.in_hand.push(InHand { run, at, epoch, named: 0 });
        Ok(())
    }

    fn failed(&mut self, error: &Error, call: Retry) -> Check {
        self.tell(|| format!("{call:?} was refused: {error}"));
        match error {
            Error::Refused(refusal) => {
                self.report.refusals += 1;
                *self.report.seen.entry(refusal.code().to_owned()).or_default() += 1;
                if let Refusal::Illegal(illegal) = refusal {
                    return Err(format!("R10: a decision tried an illegal move: {illegal}"));
                }
                Ok(())
            }
            Error::Store(_) | Error::Busy(_) | Error::Overloaded { .. } | Error::Stopped => {
                self.retries.push_back(call);
                Ok(())
            }
            Error::Held { .. } => Err(format!("{error}")),
            Error::UnknownRun(_)
            | Error::UnknownDefinition { .. }
            | Error::UnknownSchedule(_)
            | Error::ScheduleExists(_)
            | Error::DefinitionExists { .. }
            | Error::Rejected(_)
            | Error::InvalidContent(_)
            | Error::TooManyDescendants { .. }
            | Error::TooManyOpenRuns { .. }
            | Error::Paused
            | Error::MasterKey(_)
            | Error::NotStarted(_) => Err(format!("{call:?} was answered: {error}")),
        }
    }

    /// What a node says of the board, last.
    pub(super) fn take_stats(&mut self) -> Option<Stats> {
        self.stats.pop()
    }
}
