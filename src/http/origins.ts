import { HttpError } from './errors.ts'

/** Names and origins under which this server may be asked: a page of another site or another port is turned away. */
export class Origins {
  #hosts: ReadonlySet<string> = new Set()
  #origins: ReadonlySet<string> = new Set()

  /** Once it is known on which port we listen. */
  listenOn(host: string, port: number, publicUrl?: URL): void {
    const ours = ['127.0.0.1', 'localhost', '[::1]', ...(isAnyAddress(host) ? [] : [hostOf(host)])]
    const hosts = ours.flatMap(name => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`]))
    const origins = ours.map(name => `http://${name}${port === 80 ? '' : `:${port}`}`)
    this.#hosts = new Set([...hosts, ...(publicUrl ? [publicUrl.host] : [])])
    this.#origins = new Set([...origins, ...(publicUrl ? [publicUrl.origin] : [])])
  }

  check(host: string | undefined, origin: string | undefined): void {
    if (host === undefined || !this.#hosts.has(host.toLowerCase())) {
      throw new HttpError(403, 'foreign_host', 'This server is not to be asked under this name.')
    }
    if (origin !== undefined && !this.#origins.has(origin.toLowerCase())) {
      throw new HttpError(403, 'foreign_origin', 'A page of another origin may not ask this server.')
    }
  }
}

const isAnyAddress = (host: string): boolean => host === '0.0.0.0' || host === '::' || host === ''

export const hostOf = (address: string): string =>
  address.includes(':') && !address.startsWith('[') ? `[${address}]` : address.toLowerCase()
