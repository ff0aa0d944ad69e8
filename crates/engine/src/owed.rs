//! What depends on the commit of a round: replies that leave when it is committed, and what was taken for it, to be
//! put back if it is not.

use std::time::Duration;

use abide_store::StoredTimer;
use jiff::Timestamp;

use crate::alarm::Alarm;
use crate::backlog::Queued;
use crate::error::Error;
use crate::reply::{PendingReply, Retry};
use crate::request::{Request, TaskRequest};
use crate::tasks::{TaskKey, Tasks};

#[derive(Default)]
pub(crate) struct Owed {
    /// When the round began, by the clock that never goes back.
    pub(crate) begun: Option<Duration>,
    replies: Vec<(PendingReply, Option<Retry>)>,
    /// The tasks of which no further report is expected.
    pub(crate) reported: Vec<TaskKey>,
    /// The tasks that stay with the receiver that was called.
    pub(crate) accepted: Vec<TaskKey>,
    /// The instants of timers that had an effect.
    pub(crate) fired: Vec<Timestamp>,
    // What was taken for this round, to be put back if it fails.
    pub(crate) due: Vec<StoredTimer>,
    pub(crate) for_here: Vec<TaskKey>,
    pub(crate) timed: Vec<TaskKey>,
    pub(crate) own: Vec<TaskKey>,
    pub(crate) released: Vec<TaskKey>,
    /// The tasks whose lease was over.
    pub(crate) late: Vec<TaskKey>,
    /// The tasks that were taken for a poller and that it does not get: they wait for other code, cannot be rendered,
    /// or are over.
    pub(crate) withheld: Vec<TaskKey>,
    /// The follow-ups of earlier rounds that this one does.
    pub(crate) follow_ups: Vec<Queued>,
}

impl Owed {
    pub(crate) fn reply(&mut self, reply: PendingReply, retry: Option<Retry>) {
        self.replies.push((reply, retry));
    }

    pub(crate) fn replies(&self) -> u64 {
        self.replies.len() as u64
    }

    /// Sends the replies of a round that is committed.
    pub(crate) fn send_replies(&mut self) {
        self.replies.drain(..).for_each(|(reply, _)| reply.send());
    }

    /// Puts back what was taken for a round that met a conflict; returns the requests to decide again.
    pub(crate) fn ask_again(self, alarm: &mut Alarm, tasks: &mut Tasks, now: Timestamp) -> Vec<Request> {
        let Owed {
            begun: _,
            replies,
            reported: _,
            accepted: _,
            fired: _,
            due,
            for_here,
            timed,
            own,
            released,
            late,
            withheld,
            follow_ups: _,
        } = self;
        alarm.put_back(due);
        tasks.put_back(for_here, timed, own);
        let (mut again, mut claimed) = (Vec::new(), withheld);
        for (reply, retry) in replies {
            let (request, tasks) = reply.ask_again(retry);
            again.extend(request);
            claimed.extend(tasks);
        }
        tasks.release(&claimed, now);
        tasks.release(&late, now);
        if !released.is_empty() {
            again.push(TaskRequest::Release { tasks: released }.into());
        }
        again
    }

    /// Puts back what was taken for a round that failed, and answers its callers with the error.
    pub(crate) fn put_back(self, error: &Error, alarm: &mut Alarm, tasks: &mut Tasks, now: Timestamp) {
        let Owed {
            begun: _,
            replies,
            reported: _,
            accepted: _,
            fired: _,
            due,
            for_here,
            timed,
            own,
            released: _,
            late,
            withheld,
            follow_ups: _,
        } = self;
        alarm.put_back(due);
        tasks.put_back(for_here, timed, own);
        let claimed = replies.into_iter().flat_map(|(reply, _)| reply.fail(error));
        tasks.release(&claimed.chain(withheld).collect::<Vec<TaskKey>>(), now);
        tasks.release(&late, now);
    }
}
