import { apiFetch } from "./api";

export interface Session {
  accessToken: string;
  refreshToken: string;
  expiresAt: number;
}

const EARLY_MS = 30_000;

let refreshing: Promise<Session> | null = null;

/** The session, renewed shortly before it runs out; many callers share one renewal. */
export async function currentSession(session: Session, now = Date.now()): Promise<Session> {
  if (session.expiresAt - EARLY_MS > now) {
    return session;
  }
  refreshing ??= renewSession(session.refreshToken).finally(() => {
    refreshing = null;
  });
  return refreshing;
}

async function renewSession(refreshToken: string): Promise<Session> {
  const answer = await apiFetch("/auth/refresh", { method: "POST", body: refreshToken });
  return (await answer.json()) as Session;
}

export function signOut(storage: Storage): void {
  storage.removeItem("skerry.session");
}
