export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** fetch() with the base address in front; answers outside 2xx become an ApiError. */
export async function apiFetch(path: string, options: RequestInit = {}): Promise<Response> {
  const answer = await fetch(`/api${path}`, options);
  if (!answer.ok) {
    throw new ApiError(answer.status, `request to ${path} failed with status ${answer.status}`);
  }
  return answer;
}
