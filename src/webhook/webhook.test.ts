import type { lookup } from 'node:dns'
import { describe, expect, it } from 'vitest'
import { inRun, underReview } from '../../test/support/domain.ts'
import { isTold, noticeOf } from '../core/views/notice.ts'
import { guardedLookup, isPublic, post } from './post.ts'
import { eventId, hostOf, signedHeaders, webhookFrom } from './settings.ts'

const SECRET = 'a-secret-of-at-least-32-characters'

describe('what is told', () => {
  it('[WH1] a plan that waits and a turn that ends, with ids and counts and no text', () => {
    const chat = underReview('A secret title', 'Another')
    chat.run(chat.confirms([{ title: 'A secret title' }]))
    chat.finish('turn-1', 'stopped')
    const told = chat.log.filter(isTold).map(noticeOf)
    expect(told).toMatchObject([
      {
        type: 'review_waiting',
        data: {
          session_id: 'chat-1',
          turn_id: 'turn-1',
          review_id: 'review-1',
          steps: 2,
          expires_at: expect.any(String) as string,
        },
      },
      {
        type: 'turn_finished',
        data: { session_id: 'chat-1', turn_id: 'turn-1', status: 'stopped', because: 'stopped', remaining: 1 },
      },
    ])
    expect(JSON.stringify(told)).not.toMatch(/secret|Another|Do it/)
  })

  it('[WH1] a review that a person reopened is not told', () => {
    const chat = underReview('Look')
    chat.wait(120_001)
    chat.run({ type: 'expire_review', review_id: 'review-1' })
    chat.finish('turn-1')
    chat.run({ type: 'reopen_review', review_id: 'review-1', new_review_id: 'review-2' })
    expect(chat.log.filter(isTold).map(({ type }) => type)).toEqual(['task_create_review_required', 'turn_finished'])
    expect(inRun().log.map(noticeOf)).toEqual([undefined, undefined])
  })
})

describe('a signature', () => {
  it('[WH2] is over id, timestamp and body, as Standard Webhooks has it', () => {
    const key = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64')
    const headers = signedHeaders('msg_p5jXN8AQM9LWM0D4loKWxJek', '{"test": 2432232314}', key, 1_614_265_330_999)
    expect(headers).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    })
  })

  it('[WH3] the id of an event is always the same, and no other event has it', () => {
    const at = { tenant: 'local', conversation: 'c1' }
    const event = { seq: 5, timestamp: '2026-11-16T15:00:00.000Z' }
    const id = eventId(at, event)
    expect(id).toMatch(/^evt_[0-9a-f]{32}$/)
    expect(eventId({ ...at }, { ...event })).toBe(id)
    const others = [
      eventId({ ...at, conversation: 'c2' }, event),
      eventId({ ...at, tenant: 'other' }, event),
      eventId(at, { ...event, seq: 6 }),
      eventId(at, { ...event, timestamp: '2026-11-16T15:00:00.001Z' }),
    ]
    expect(new Set([id, ...others]).size).toBe(5)
  })
})

describe('settings', () => {
  it('a URL, a secret and the hosts that are named', () => {
    const read = webhookFrom({ url: 'https://hooks.example.com/x', secret: SECRET, hosts: [' Hooks.Internal ', ''] })
    expect(read).toMatchObject({ key: Buffer.from(SECRET), hosts: new Set(['hooks.internal']) })
    const given = Buffer.alloc(32, 7).toString('base64')
    expect(webhookFrom({ url: 'https://a.example', secret: `whsec_${given}` })).toMatchObject({
      key: Buffer.alloc(32, 7),
    })
    expect(webhookFrom({ secret: SECRET })).toBeUndefined()
  })

  it.each([
    ['ftp://a.example', SECRET, 'must be an https:// URL'],
    ['nonsense', SECRET, 'must be an https:// URL'],
    ['https://user:pass@a.example', SECRET, 'without a user name'],
    ['http://a.example', SECRET, '--webhook-hosts a.example'],
    ['http://[::1]:80/', SECRET, '--webhook-hosts ::1'],
    ['https://a.example', 'short', 'RUNSHEET_WEBHOOK_SECRET'],
  ])('%s is refused in words', (url, secret, words) => {
    expect(webhookFrom({ url, secret })).toContain(words)
  })
})

describe('addresses', () => {
  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.9.9.9',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::7f00:1',
    'fc00::1',
    'fd12::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '2001:db8::1',
    '2001::1',
    '2002:7f00:1::',
    '100::1',
    'nonsense',
  ])('[WH7] %s is not public', address => {
    expect(isPublic(address)).toBe(false)
  })

  it.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '192.169.0.1', '2606:4700:4700::1111', '2a00:1450:4001::200e'])(
    '[WH7] %s is public',
    address => {
      expect(isPublic(address)).toBe(true)
    },
  )

  /** A name server that answers so, one answer after the other. */
  function names(...answers: readonly (readonly string[])[]): { lookup: typeof lookup; asked: () => number } {
    let asked = 0
    const answer = (_host: string, _options: object, callback: (error: null, found: object[]) => void): void => {
      const addresses = answers[Math.min(asked, answers.length - 1)] ?? []
      asked += 1
      callback(
        null,
        addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 })),
      )
    }
    return { lookup: answer as unknown as typeof lookup, asked: () => asked }
  }

  const resolved = (named: readonly string[], dns: ReturnType<typeof names>, all = false): Promise<unknown> =>
    new Promise((resolve, reject) =>
      guardedLookup(new Set(named), dns.lookup)('hooks.example', { all }, (error, address) =>
        error ? reject(error) : resolve(address),
      ),
    )

  it('[WH7] a name with a private address is refused, also beside a public one; a named host is not', async () => {
    await expect(resolved([], names(['10.0.0.1']))).rejects.toMatchObject({ code: 'private_address' })
    await expect(resolved([], names(['8.8.8.8', '::1']))).rejects.toMatchObject({ code: 'private_address' })
    expect(await resolved([], names(['8.8.8.8', '1.1.1.1']))).toBe('8.8.8.8')
    expect(await resolved(['hooks.example'], names(['10.0.0.1']), true)).toEqual([{ address: '10.0.0.1', family: 4 }])
  })

  it('[WH7] the name is resolved once, and the connection goes to what was looked at', async () => {
    const dns = names(['203.0.113.9'], ['127.0.0.1'])
    const url = new URL('https://rebinding.example/')
    const sent = post(
      { url, hosts: new Set() },
      '{}',
      {},
      { timeoutMs: 2_000, signal: AbortSignal.timeout(5_000), lookup: dns.lookup },
    )
    await expect(sent).rejects.toMatchObject({ code: 'private_address' })
    expect(dns.asked()).toBe(1)
  })

  it.each([
    'http://127.0.0.1:9/',
    'https://[::1]/',
    'https://169.254.169.254/',
    'https://0x7f.1/',
    'https://2130706433/',
  ])('[WH7] %s is refused before anything is sent', async url => {
    const options = { timeoutMs: 2_000, signal: AbortSignal.timeout(5_000) }
    await expect(post({ url: new URL(url), hosts: new Set() }, '{}', {}, options)).rejects.toMatchObject({
      code: 'private_address',
    })
  })

  it('[WH7] an IPv6 host is compared without its brackets', () => {
    expect(hostOf(new URL('https://[fd12::1]:8443/x'))).toBe('fd12::1')
  })
})
