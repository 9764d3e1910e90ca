// What the server is asked.

export class Problem extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function answer(request) {
  let response;
  try {
    response = await fetch(request);
  } catch (problem) {
    if (problem.name === 'AbortError') throw problem;
    throw new Problem(0, 'The server does not answer; it may have ended.');
  }
  if (response.ok) return response.json();
  const told = await response.json().catch(() => ({}));
  if (response.status === 401) throw new Problem(401, 'The server was started anew: open the address that it printed.');
  throw new Problem(response.status, told.error ?? `HTTP ${response.status}`);
}

export function ask(path, parameters = {}, signal = undefined) {
  const query = new URLSearchParams(parameters).toString();
  return answer(new Request(`/api/${path}${query ? `?${query}` : ''}`, {signal}));
}

export function post(path, body, signal = undefined) {
  return answer(new Request(`/api/${path}`,
    {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body), signal}));
}

// Runs the last of many calls: waits until they pause, gives up the one before, and tries again
// while the server is busy.
export function latest(run, pause = 120) {
  let timer = null, controller = null;
  return (...words) => {
    clearTimeout(timer);
    controller?.abort();
    controller = new AbortController();
    const {signal} = controller;
    const go = async (tries) => {
      try {
        await run(signal, ...words);
      } catch (problem) {
        if (problem.name === 'AbortError' || signal.aborted) return;
        if (problem.status === 503 && tries > 0) timer = setTimeout(() => go(tries - 1), 1500);
        else throw problem;
      }
    };
    timer = setTimeout(() => go(2), pause);
  };
}
