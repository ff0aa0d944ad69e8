-- What calls to models used up, by day of UTC (a number since 1970), workflow and model. Written with the calls.
CREATE TABLE costs (
    workspace INTEGER NOT NULL,
    day INTEGER NOT NULL,
    definition TEXT NOT NULL,
    model TEXT NOT NULL,
    calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    cached_input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_micros INTEGER NOT NULL,
    unpriced_calls INTEGER NOT NULL,
    PRIMARY KEY (workspace, day, definition, model)
) STRICT, WITHOUT ROWID;
