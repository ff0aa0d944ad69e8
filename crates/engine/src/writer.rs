//! The writer's thread: it tells the [machine](crate::machine) what happened, and does what comes out. It sleeps until a request
//! comes, a commit is done, or the machine wants to be called. Nothing is decided here.
//!
//! ```text
//!   requests · reports · answers of committers and checker ──▶ machine ──▶ committers · checker · runner · sender · followers
//! ```

use std::collections::VecDeque;
use std::sync::{Arc, mpsc as threads};
use std::time::Instant;

use tokio::sync::mpsc;

use crate::checker::Check;
use crate::clock::Clock;
use crate::committer::Job;
use crate::error::Error;
use crate::followers::Followers;
use crate::machine::{Input, Machine, Now, Output};
use crate::request::Request;
use crate::runner::Runner;
use crate::watch::Watch;
use crate::webhooks::Outbox;

/// The machine, and all that does what it asks for.
pub(crate) struct Writer {
    pub(crate) machine: Machine,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) begun: Instant,
    pub(crate) jobs: threads::Sender<Job>,
    pub(crate) checks: threads::Sender<Check>,
    pub(crate) runner: Runner,
    pub(crate) outbox: Outbox,
    pub(crate) followers: Followers,
    pub(crate) watch: Arc<Watch>,
}

/// What the writer hears.
pub(crate) struct Inbox {
    pub(crate) requests: mpsc::Receiver<Request>,
    pub(crate) reports: mpsc::Receiver<Request>,
    pub(crate) answers: mpsc::UnboundedReceiver<Input>,
}

impl Writer {
    fn now(&self) -> Now {
        Now { wall: self.clock.now(), latest: self.clock.latest(), elapsed: self.begun.elapsed() }
    }

    /// Takes up what was under way when the last process ended.
    pub(crate) fn recover(&mut self) -> Result<(), Error> {
        let mut outputs = Vec::new();
        let recovered = self.machine.recover(self.now(), &mut outputs);
        outputs.into_iter().for_each(|output| self.perform(output));
        recovered
    }

    /// Works until it is stopped, or nobody can ask for anything any more.
    pub(crate) async fn live(mut self, mut inbox: Inbox) {
        let (mut inputs, mut outputs) = (VecDeque::new(), Vec::new());
        let mut is_closed = false;
        while !(is_closed && self.machine.is_drained()) {
            is_closed |= self.gather(&mut inbox, &mut inputs, is_closed).await;
            self.watch.pass_begins();
            self.machine.step(self.now(), &mut inputs, &mut outputs);
            self.watch.pass_ends();
            outputs.drain(..).for_each(|output| self.perform(output));
            if inbox.requests.is_empty() && inbox.reports.is_empty() {
                self.machine.answer_settled(self.now());
            }
            is_closed |= self.machine.is_stopping();
        }
        drop(inbox);
        self.end();
    }

    /// Waits for something to happen, or until the machine wants to be called, and takes what there is room for. Says whether
    /// nobody can ask for anything any more.
    async fn gather(&self, inbox: &mut Inbox, inputs: &mut VecDeque<Input>, is_closed: bool) -> bool {
        let (mut closes, mut first) = (is_closed, None);
        let now = self.now();
        let wake = self.machine.wake(now);
        let room = self.machine.room(now);
        if !wake.after.is_zero() {
            tokio::select! {
                biased;
                Some(answer) = inbox.answers.recv() => inputs.push_back(answer),
                request = inbox.requests.recv(), if room.requests > 0 && !closes => match request {
                    Some(request) => first = Some(Input::Request(request)),
                    None => closes = true,
                },
                Some(report) = inbox.reports.recv(), if room.reports > 0 && !closes => {
                    first = Some(Input::Report(report));
                }
                () = tokio::time::sleep(wake.after) => {}
            }
        }
        while let Ok(answer) = inbox.answers.try_recv() {
            inputs.push_back(answer);
        }
        let answers = inputs.len();
        inputs.extend(first);
        while !closes
            && inputs.len() - answers < room.requests
            && let Ok(request) = inbox.requests.try_recv()
        {
            inputs.push_back(Input::Request(request));
        }
        let mut reports = self.machine.room(self.now()).reports;
        while !closes
            && inputs.len() - answers < room.requests
            && reports > 0
            && let Ok(report) = inbox.reports.try_recv()
        {
            reports -= 1;
            inputs.push_back(Input::Report(report));
        }
        closes
    }

    fn perform(&mut self, output: Output) {
        match output {
            Output::Commit { round, batch } => self.ask(Job::Commit(round, batch)),
            Output::Deploy { deploy, answer } => self.ask(Job::Deploy { deploy, answer }),
            Output::Write(write) => self.ask(Job::Write(write)),
            Output::Hold { held, answer } => self.ask(Job::Hold { held, answer }),
            Output::Unhold { owner, answer } => self.ask(Job::Unhold { owner, answer }),
            // It works as long as this thread does; if it panicked, the answer is dropped, which is heard.
            Output::Check(check) => drop(self.checks.send(check)),
            Output::Register { name, handler } => self.runner.register(name, handler),
            Output::Perform(task) => self.runner.perform(*task),
            Output::Abort(task) => self.runner.abort(task),
            Output::Detach(task) => self.runner.detach(task),
            Output::Webhooks(webhooks) => self.outbox.look_at(webhooks),
            Output::SettleWebhooks(answer) => self.outbox.settle(answer),
            Output::Changed(changed) => self.followers.tell_of(changed),
            Output::Version { run, version } => self.followers.tell_version(run, version),
        }
    }

    fn ask(&self, job: Job) {
        // It works as long as this thread does, unless it panicked; then the answers are dropped, which is heard.
        let _ = self.jobs.send(job);
    }

    fn end(self) {
        let now = self.now();
        let Writer { machine, jobs, mut runner, .. } = self;
        runner.stop();
        // The committer's connection closes last: only one that may write folds the log back.
        let stopped = machine.end(now);
        drop(jobs);
        if let Some(stopped) = stopped {
            // Whoever asked may have gone.
            let _ = stopped.send(());
        }
    }
}
