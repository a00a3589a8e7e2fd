/** Names for something that is to stay as it is, or to follow slowly, while another goes on. */
export const SNAPSHOT_NAME =
  /(?:^|[_.])(?:best|old|prev(?:ious)?|copy|copied|snapshot|snap|backup|bak|initial|init|orig(?:inal)?|before|ref(?:erence)?|target|teacher|ema|frozen|saved|cloned?|start)(?:_|\d|$)/i;
