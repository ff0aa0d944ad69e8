//! What came of a command.

use abide_core::command::Reply;
use abide_core::refusal::Refusal;

/// Dropped without a look, it must have been a yes: so a scenario's plain sentences all come true.
pub(crate) struct Answer(Option<Result<Reply, Refusal>>);

impl Answer {
    pub(super) fn of(answer: Result<Reply, Refusal>) -> Answer {
        Answer(Some(answer))
    }

    #[track_caller]
    pub(crate) fn reply(mut self) -> Reply {
        match self.0.take().expect("an answer is looked at once") {
            Ok(reply) => reply,
            Err(refusal) => panic!("refused: {refusal}"),
        }
    }

    #[track_caller]
    pub(crate) fn refused(mut self) -> Refusal {
        match self.0.take().expect("an answer is looked at once") {
            Ok(reply) => panic!("not refused: {reply:?}"),
            Err(refusal) => refusal,
        }
    }

    /// Yes or no, either is fine.
    pub(super) fn ignore(mut self) {
        self.0 = None;
    }

    /// The code of its refusal.
    #[track_caller]
    pub(crate) fn code(self) -> &'static str {
        self.refused().code()
    }
}

impl Drop for Answer {
    #[track_caller]
    fn drop(&mut self) {
        if let Some(Err(refusal)) = &self.0
            && !std::thread::panicking()
        {
            panic!("refused: {refusal}");
        }
    }
}
