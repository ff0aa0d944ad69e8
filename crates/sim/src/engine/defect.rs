//! Defects that are planted on purpose, between a machine and the world, to show that the rules catch them.

/// What is broken in a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Defect {
    /// A lease that was lost stays on the board: nobody else gets its task.
    LeakedLease,
    /// A round is taken for committed when it is sent off: what it asks of the world leaves before its commit.
    EarlyEffects,
    /// A node that was second goes on deciding on what it had read before.
    StaleAfterConflict,
    /// The store takes a decision that was made on a version that is gone.
    AcceptedConflict,
    /// The timers of runs that a dead node wrote to last are found by nobody.
    ForgottenTimers,
    /// Two nodes may both decide on a limit as it was before: the same room is given twice.
    AcceptedLimitConflict,
    /// Room that is given back stays taken.
    LeakedRoom,
    /// What a rate remembers is lost with each commit: its window begins anew.
    ForgottenRate,
    /// The first in line is not found while others wait behind it.
    SkippedHead,
    /// Nobody in line is found.
    EmptyLine,
    /// The store forgets which key of a line had its turn last: the first one has it again and again.
    ForgottenTurn,
    /// What was answered under which idempotency key is not kept: what is asked for again is done again.
    ForgottenKeys,
    /// A node may go by what was set for a limit before it was set otherwise.
    StaleSettings,
    /// A task that is recalled stays on the board as if somebody had it.
    Tombstone,
}

impl Defect {
    pub const ALL: [Defect; 14] = [
        Defect::LeakedLease,
        Defect::EarlyEffects,
        Defect::StaleAfterConflict,
        Defect::AcceptedConflict,
        Defect::ForgottenTimers,
        Defect::AcceptedLimitConflict,
        Defect::LeakedRoom,
        Defect::ForgottenRate,
        Defect::SkippedHead,
        Defect::EmptyLine,
        Defect::ForgottenTurn,
        Defect::ForgottenKeys,
        Defect::StaleSettings,
        Defect::Tombstone,
    ];
}
