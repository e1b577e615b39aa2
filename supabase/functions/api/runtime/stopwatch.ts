/** Adds up the durations of the back-end calls of one request. */
export class Stopwatch {
  milliseconds = 0;

  /** A proxy of the port whose asynchronous methods are timed. */
  time<Port extends object>(port: Port): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        return (...args: unknown[]) => this.timeCall(() => Reflect.apply(member, target, args));
      },
    });
  }

  private timeCall(call: () => unknown): unknown {
    const started = performance.now();
    const result = call();
    if (!(result instanceof Promise)) return result;
    return result.finally(() => this.milliseconds += performance.now() - started);
  }
}
