// For `node --import`: a wall clock that jumps by CLOCK_JUMP_MS at each SIGUSR2.
import { writeSync } from 'node:fs'

const RealDate = Date
const { timeOrigin } = performance
let shift = 0

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [RealDate.now() + shift] : args, newTarget) as Date,
  apply: () => new RealDate(RealDate.now() + shift).toString(),
  get: (target, name, receiver) =>
    name === 'now' ? () => RealDate.now() + shift : (Reflect.get(target, name, receiver) as unknown),
})
Object.defineProperty(performance, 'timeOrigin', { get: () => timeOrigin + shift })

process.on('SIGUSR2', () => {
  shift += Number(process.env['CLOCK_JUMP_MS'] ?? 0)
  writeSync(1, 'the clock jumped\n')
})
