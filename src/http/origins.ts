import { HttpError } from './http-error.ts'

/** Refuses pages of other sites and of other ports. */
export class Origins {
  #hosts: ReadonlySet<string> = new Set()
  #origins: ReadonlySet<string> = new Set()

  /** Called once the port is known. */
  listenOn(host: string, port: number, publicUrl?: URL): void {
    const ours = ['127.0.0.1', 'localhost', '[::1]', ...(isAnyAddress(host) ? [] : [hostOf(host)])]
    const hosts = ours.flatMap(name => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`]))
    const origins = ours.map(name => `http://${name}${port === 80 ? '' : `:${port}`}`)
    this.#hosts = new Set([...hosts, ...(publicUrl ? [publicUrl.host] : [])])
    this.#origins = new Set([...origins, ...(publicUrl ? [publicUrl.origin] : [])])
  }

  check(host: string | null, origin: string | null): void {
    if (host === null || !this.#hosts.has(host.toLowerCase())) {
      throw new HttpError(403, 'foreign_host', 'Unexpected Host header')
    }
    if (origin !== null && !this.#origins.has(origin.toLowerCase())) throw foreignOrigin()
  }
}

export const foreignOrigin = (hint = ''): HttpError =>
  new HttpError(403, 'foreign_origin', `Requests from pages of this origin are not allowed.${hint}`)

const isAnyAddress = (host: string): boolean => host === '0.0.0.0' || host === '::' || host === ''

/** Puts IPv6 addresses in brackets, as URLs require. */
export const hostOf = (address: string): string =>
  address.includes(':') && !address.startsWith('[') ? `[${address}]` : address.toLowerCase()
