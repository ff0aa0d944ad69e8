use crate::client::Client;
use crate::problem::Error;
use crate::transport::at;
use crate::wire;

/// The clock of a server that was started with `--test-clock`.
#[derive(Debug, Clone, Copy)]
pub struct TestClock<'a>(pub(crate) &'a Client);

impl TestClock<'_> {
    /// What time it is.
    pub async fn find(&self) -> Result<wire::TestClock, Error> {
        self.0.transport().json(self.0.get(at(&["test", "clock"]))).await
    }

    /// Lets time pass: at most to an instant, or by a time; to the next timer if that is due before.
    pub async fn advance(&self, clock: &wire::MoveClock) -> Result<wire::TestClock, Error> {
        self.0.transport().json(self.0.post(at(&["test", "clock"])).body(clock)?).await
    }
}
