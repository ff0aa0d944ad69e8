//! Steering a pending wait (R9): the same four verbs for every kind, each recorded with who did it.

use jiff::Timestamp;
use serde::Serialize;

use crate::command::Reply;
use crate::flow;
use crate::history::Change;
use crate::json::Json;
use crate::limits;
use crate::refusal::{Refusal, within};
use crate::status::WaitStatus;
use crate::turn::Turn;
use crate::waitpoint::Kind;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Steer {
    pub number: u32,
    pub steering: Steering,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Steering {
    /// To another instant; a past one is due at once.
    Reschedule {
        resume_at: Timestamp,
    },
    /// As if what it waits for had come, with this payload.
    Complete {
        payload: Option<Json>,
    },
    /// As if its time were over.
    TimeOut,
    Cancel,
}

impl Steer {
    pub(super) fn decide(self, turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
        let Steer { number, steering } = self;
        let waitpoint = turn.pending(number)?;
        let (kind, id) = (waitpoint.kind, turn.run.waitpoint_id(number));
        match steering {
            Steering::Reschedule { resume_at } => {
                if resume_at > limits::WAIT.after(turn.now) {
                    let message = format!("more than {} from now", limits::WAIT);
                    return Err(Refusal::Malformed { pointer: "/resumeAt", message });
                }
                turn.emit(Change::WaitRescheduled { number, resume_at })?;
                // It may have been overdue, and is open again: what came meanwhile is still there (R5).
                flow::look_for_early_ones(turn, number)?;
            }
            Steering::Complete { payload } => {
                match kind {
                    Kind::Approval | Kind::Child => {
                        return Err(Refusal::WrongKind { waitpoint: id, kind, verb: "completed by hand" });
                    }
                    Kind::Webhook | Kind::Signal | Kind::Event => turn.open_to_others(number).map(|_| ())?,
                    Kind::Delay | Kind::Pause | Kind::Retry | Kind::Schedule => {}
                }
                let bytes = payload.as_ref().map_or(0, Json::bytes);
                within("the payload's size in bytes", bytes, limits::PAYLOAD_BYTES)?;
                flow::resolve(turn, number, WaitStatus::Completed, payload)?;
            }
            Steering::TimeOut => {
                let status = if kind.ends_by_time() { WaitStatus::Completed } else { WaitStatus::TimedOut };
                flow::resolve(turn, number, status, None)?;
            }
            Steering::Cancel => flow::resolve(turn, number, WaitStatus::Cancelled, None)?,
        }
        Ok(Reply::Waitpoint(id))
    }
}
