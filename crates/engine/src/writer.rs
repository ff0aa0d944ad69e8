//! The writer: the thread that drives the [machine](crate::machine). It tells the machine what happened, and does what comes out;
//! it sleeps until a request comes, a commit is done, or the machine wants to be called. Nothing is decided here, and rounds are
//! written by the [committers](crate::committer).
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
use crate::machine::{Done, Input, Machine, Now, Output};
use crate::request::Request;
use crate::runner::Runner;
use crate::watch::Watch;
use crate::webhooks::Outbox;

/// One in so many places of a round is kept for reports of handlers in this process, if there are any.
const REPORTS_PART: usize = 4;

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
    /// Empty, and as large as it has been: a step appends to it.
    pub(crate) outputs: Vec<Output>,
}

/// What the writer waits for.
enum Next {
    Done(Done),
    Input(Input),
    /// The machine wants to be called.
    Wake,
    /// Nobody can ask for anything any more.
    Closed,
}

/// The channels that the writer receives from.
pub(crate) struct Inbox {
    pub(crate) requests: mpsc::Receiver<Request>,
    pub(crate) reports: mpsc::Receiver<Request>,
    pub(crate) answers: mpsc::UnboundedReceiver<Done>,
}

impl Writer {
    fn now(&self) -> Now {
        Now { wall: self.clock.now(), latest: self.clock.latest(), elapsed: self.begun.elapsed() }
    }

    /// Recovers what was under way when the last process ended.
    pub(crate) fn recover(&mut self) -> Result<(), Error> {
        let mut recovered = Ok(());
        self.drive(|machine, now, outputs| recovered = machine.recover(now, outputs));
        recovered
    }

    /// Works until it is stopped, or nobody can ask for anything any more.
    pub(crate) async fn live(mut self, mut inbox: Inbox) {
        let mut inputs = VecDeque::new();
        let mut is_closed = false;
        while !(is_closed && self.machine.is_drained()) {
            let next = self.next(&mut inbox, is_closed).await;
            self.watch.pass_begins();
            match next {
                Next::Done(done) => self.drive(|machine, now, outputs| machine.hear(now, done, outputs)),
                Next::Input(input) => inputs.push_back(input),
                Next::Closed => is_closed = true,
                Next::Wake => {}
            }
            while let Ok(done) = inbox.answers.try_recv() {
                self.drive(|machine, now, outputs| machine.hear(now, done, outputs));
            }
            if !is_closed {
                self.gather(&mut inbox, &mut inputs);
            }
            self.drive(|machine, now, outputs| machine.step(now, &mut inputs, outputs));
            self.watch.pass_ends();
            if inbox.requests.is_empty() && inbox.reports.is_empty() {
                self.machine.answer_settled(self.now());
            }
            is_closed |= self.machine.is_stopping();
        }
        drop(inbox);
        self.end();
    }

    /// Waits for something to happen, or until the machine wants to be called.
    async fn next(&self, inbox: &mut Inbox, is_closed: bool) -> Next {
        let now = self.now();
        let (wake, room) = (self.machine.wake(now), self.machine.room(now));
        if wake.after.is_zero() {
            return Next::Wake;
        }
        tokio::select! {
            biased;
            Some(done) = inbox.answers.recv() => Next::Done(done),
            request = inbox.requests.recv(), if room.requests > 0 && !is_closed => {
                request.map_or(Next::Closed, |request| Next::Input(Input::Request(request)))
            }
            Some(report) = inbox.reports.recv(), if room.reports > 0 && !is_closed => {
                Next::Input(Input::Report(report))
            }
            () = tokio::time::sleep(wake.after) => Next::Wake,
        }
    }

    /// Takes what waits outside, as far as there is room for it. Requests come first, and leave a part of it to reports:
    /// a handler that is done would otherwise wait for as long as others ask.
    fn gather(&self, inbox: &mut Inbox, inputs: &mut VecDeque<Input>) {
        let room = self.machine.room(self.now());
        let taken = inputs.iter().filter(|input| matches!(input, Input::Report(_))).count();
        let mut reports = room.reports.saturating_sub(taken);
        let kept = inbox.reports.len().min(reports).min(room.requests / REPORTS_PART);
        while inputs.len() + kept < room.requests
            && let Ok(request) = inbox.requests.try_recv()
        {
            inputs.push_back(Input::Request(request));
        }
        while inputs.len() < room.requests
            && reports > 0
            && let Ok(report) = inbox.reports.try_recv()
        {
            reports -= 1;
            inputs.push_back(Input::Report(report));
        }
    }

    /// Calls the machine, and does what comes out.
    fn drive(&mut self, call: impl FnOnce(&mut Machine, Now, &mut Vec<Output>)) {
        let (now, mut outputs) = (self.now(), std::mem::take(&mut self.outputs));
        call(&mut self.machine, now, &mut outputs);
        outputs.drain(..).for_each(|output| self.perform(output));
        self.outputs = outputs;
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
