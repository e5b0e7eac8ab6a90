import { afterEach, describe, expect, it, vi } from 'vitest'
import { Login, Origins } from './access.ts'

const HOUR = 3_600_000

describe('a login code', () => {
  afterEach(() => void vi.useRealTimers())

  it('[AU1] is good for an hour, and no longer', () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const codes = new Login('a-token')
    const [used, forgotten] = [codes.issue(), codes.issue()]
    vi.advanceTimersByTime(HOUR - 1)
    expect(codes.redeem(used)).toBe('a-token')
    vi.advanceTimersByTime(1)
    expect(codes.redeem(forgotten)).toBeUndefined()
  })
})

/** The code of the refusal; undefined if the request is let in. */
function asked(origins: Origins, host: string, origin: string | null = null): string | undefined {
  try {
    origins.check(host, origin)
    return undefined
  } catch (error) {
    return (error as { code: string }).code
  }
}

function listening(host: string, port: number): Origins {
  const origins = new Origins()
  origins.listenOn(host, port)
  return origins
}

describe('a name to ask under', () => {
  it('[AU3] on port 80 goes with the port and without it, as clients leave it out', () => {
    const origins = listening('127.0.0.1', 80)
    for (const host of ['127.0.0.1', '127.0.0.1:80', 'localhost', 'localhost:80', '[::1]', '[::1]:80']) {
      expect(asked(origins, host), host).toBeUndefined()
    }
    expect(asked(origins, 'localhost', 'http://localhost')).toBeUndefined()
    expect(asked(origins, 'localhost', 'http://localhost:80')).toBe('foreign_origin')
    expect(asked(origins, 'localhost:8080')).toBe('foreign_host')
  })

  it('[AU3] a wildcard address is not a host name', () => {
    for (const [address, name] of [
      ['0.0.0.0', '0.0.0.0:4747'],
      ['::', '[::]:4747'],
      ['', ':4747'],
    ] as const) {
      const origins = listening(address, 4747)
      expect(asked(origins, name), name).toBe('foreign_host')
      expect(asked(origins, 'localhost:4747', `http://${name}`), name).toBe('foreign_origin')
      expect(asked(origins, 'localhost:4747', 'http://localhost:4747')).toBeUndefined()
    }
  })

  it('[AU3] the host that was named to listen on is ours, in any case', () => {
    for (const [address, name] of [
      ['Plans.lan', 'plans.lan:4747'],
      ['192.168.1.7', '192.168.1.7:4747'],
      ['fe80::1', '[fe80::1]:4747'],
    ] as const) {
      const origins = listening(address, 4747)
      expect(asked(origins, name, `http://${name}`), name).toBeUndefined()
      expect(asked(origins, name.toUpperCase()), name).toBeUndefined()
      expect(asked(origins, 'other.lan:4747')).toBe('foreign_host')
    }
  })
})
