/** Asks again until there is an answer. */
export const until = async (what, ms = 30_000) => {
  const deadline = Date.now() + ms;
  for (;;) {
    const found = await what();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`nothing came of ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
};
