-- Refuses a commit, with an SQLSTATE of our own (see refusal.rs) and in words for whoever reads the server's log. A number
-- is what it would return, so that it can stand for one.
CREATE FUNCTION refuse_commit(state text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING
        ERRCODE = state,
        MESSAGE = CASE state
            WHEN 'AB001' THEN 'abide: conflict: another node has changed a run since this commit was decided'
            WHEN 'AB002' THEN 'abide: fenced: the writer of this commit has given it up'
            ELSE 'abide: a commit was refused'
        END,
        HINT = 'Nothing was written, and there is nothing to do: abide decides again on what is there.';
END
$$;
