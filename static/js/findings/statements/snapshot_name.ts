/** Names for something that is to stay as it is, or to follow slowly, while another goes on. */
export const SNAPSHOT_NAME_PATTERN =
  /(?:^|[_.]|\p{Script=Han})(?:best|old|prev(?:ious)?|copy|copied|snapshot|snap|backup|bak|initial|init|orig(?:inal)?|before|ref(?:erence)?|target|teacher|ema|frozen|saved|cloned?|start)(?:_|\d|\p{Script=Han}|$)|最好|最佳|最优|旧|之前|副本|备份|快照|初始|原始|参考|目标|教师|老师|冻结|保存/iu;
