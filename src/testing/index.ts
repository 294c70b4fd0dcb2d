/** What Hookhelm's own tests use, for yours. */
export { type FakeClock, fakeClock } from './fake-clock.ts'
export { type Recorded, type Recorder, recorder } from './recorder.ts'
