/** Asks until it is so, for at most five minutes. */
export const until = async (ask) => {
  const end = Date.now() + 300_000;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > end) throw new Error("it never came to be");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};
