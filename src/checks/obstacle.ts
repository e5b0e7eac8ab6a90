/** Why something could not be run or inspected, as a sentence. A value, because it is a normal result. */
export class Obstacle {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

export const becauseOf = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException
  return (code && MEANINGS[code]) ?? code ?? message
}

const MEANINGS: Readonly<Record<string, string>> = {
  E2BIG: 'its arguments and environment are too long',
  EACCES: 'access is denied',
  EAGAIN: 'the system has no more processes to give',
  EIO: 'the disk failed',
  ELOOP: 'its links lead in a circle',
  EMFILE: 'too many files are open',
  ENAMETOOLONG: 'its name is too long',
  ENOENT: 'it does not exist',
  ENOMEM: 'there is no memory left',
  ENOTDIR: 'it does not exist',
  EPERM: 'it is not permitted',
}
