import { currentSession } from "./session";

describe("currentSession", () => {
  it("does not renew a session that is still good", async () => {
    const session = { accessToken: "a", refreshToken: "r", expiresAt: 100_000 };
    expect(await currentSession(session, 0)).toBe(session);
  });
});
