select testset, subset, metric, statistic, value, low, high from best_metrics
where metric like '%bertscore%' and level = 'system'
order by testset, subset, metric, statistic
