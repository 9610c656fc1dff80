def best_plans_text(c, q, shown=10, more="--all"):
    return []


def links_text(links):
    return str(links)
