/** Types of passage-client. Those of questions and answers are in types.d.ts. */

import type { Chunk, CollectionInfo, Contracts, Feedback, ProfileList } from './types.d.ts'

export type * from './types.d.ts'

/** The name of a contract: the shape of a profile's questions and answers. */
export type Contract = keyof Contracts

export interface Options {
  /** The API's address, with its stage or base path: `https://….execute-api.eu-central-1.amazonaws.com/live`. */
  endpoint: string
  /** The profile to ask. Without it, the API's default one. */
  profile?: string
  /** Sent as `X-Api-Key`. A key in a web page is public: it only counts and limits requests. */
  key?: string
  /** Milliseconds for one call, its retries included. 30,000 without it. */
  timeout?: number
  /** How often a 429 or 503 is tried again, after the seconds that the API's Retry-After names. 2 without it. */
  retries?: number
  /** Further headers of each request. */
  headers?: Record<string, string>
  fetch?: typeof fetch
}

export interface CallOptions {
  signal?: AbortSignal
  /** Milliseconds for this call. */
  timeout?: number
}

export interface ProfileOptions extends CallOptions {
  /** Another profile than the client's. */
  profile?: string
}

/** A client of one Passage API. `C` is the contract of the profile that it asks. */
export class Passage<C extends Contract = 'query_response'> {
  constructor(options: Options)

  /**
   * The passages for a question, with their titles and headings unless `titles` is false. Its fields are those of the
   * profile's contract. Rejects with a PassageError.
   */
  ask(
    question: string | Contracts[C]['question'],
    options?: Partial<Contracts[C]['question']> & ProfileOptions
  ): Promise<Contracts[C]['answer']>

  /** One stored chunk, by its point id or by the chunk id of an answer. */
  chunk(id: string | number, options?: ProfileOptions & { withVectors?: boolean }): Promise<Chunk>

  /** The collection's metadata and its mismatches with the profile. */
  collection(options?: ProfileOptions): Promise<CollectionInfo>

  /** All profiles, and the name of the default one. */
  profiles(options?: CallOptions): Promise<ProfileList>

  /** A reader's thumbs up or down for a passage. */
  feedback(feedback: Feedback, options?: CallOptions): Promise<void>
}

/** Any error of a call, except an abort: that one rejects with the signal's own reason. */
export class PassageError extends Error {
  /** The contract's code; null if the error is not the API's own. */
  code: Contracts[Contract]['code'] | null
  /** The HTTP status; null if no answer came. */
  status: number | null
  /** Seconds to wait, as the API's Retry-After says; null without one. */
  retryAfter: number | null
  /** The error's JSON; null if it is not JSON. */
  body: unknown
}

/** 400, 405, 413: the request is wrong. The message says what is allowed. */
export class InvalidRequest extends PassageError {}
/** 401, 403: the key is missing or wrong, or the gateway blocks the caller. */
export class Forbidden extends PassageError {}
/** 404: no such path, profile or chunk. */
export class NotFound extends PassageError {}
/** 429: too many requests, also after the retries. */
export class RateLimited extends PassageError {}
/** 500: the deployment is configured wrongly, or has a bug. */
export class ServerError extends PassageError {}
/** 502, 503: a service behind the API is down, also after the retries. */
export class Unavailable extends PassageError {}
/** 408, 504, or the client's own timeout: no answer came in time. */
export class TimedOut extends PassageError {}
/** No answer came: offline, refused by CORS, or not the API. */
export class NoAnswer extends PassageError {}
