# Makes of an empty Redmine one for the live test, and prints the key of its administrator. Run by its `rails runner`.
# Else threads send mails meanwhile, and find SQLite's file locked, or lock it.
ActiveJob::Base.queue_adapter = :inline
ActionMailer::Base.delivery_method = :test
Redmine::DefaultData::Loader.load('en')
Setting.rest_api_enabled = '1'
# Otherwise everybody may see what is public, and a wrong key is not refused.
Setting.login_required = '1'
admin = User.find_by!(login: 'admin')
admin.update_columns(must_change_passwd: false)
# Neither UTC nor the zone of the server: days begin at another hour for the user.
admin.pref.update!(time_zone: 'Hawaii')

manager = Role.find_by!(name: 'Manager')
# An issue may begin with any status.
Tracker.all.to_a.product(IssueStatus.all.to_a).each do |tracker, status|
  WorkflowTransition.create!(role: manager, tracker: tracker, old_status_id: 0, new_status: status)
end
people = 3.times.map do |number|
  User.new(firstname: "Ann #{number}", lastname: "O'Neil & Söhne", mail: "ann#{number}@example.com").tap do |user|
    user.login = "ann#{number}"
    user.password = user.password_confirmation = 'password of hers'
    user.save!
  end
end
people.last.lock!

%w[first second].each do |identifier|
  project = Project.create!(name: "Köln & O'Neil #{identifier}", identifier: identifier, is_public: identifier == 'first')
  project.trackers = Tracker.all
  project.enabled_module_names = %w[issue_tracking time_tracking]
  [admin, *people.first(2)].each { |user| Member.create!(project: project, user: user, roles: [manager]) }
  Version.create!(project: project, name: "#{identifier} 1.0", due_date: '2026-12-31')
  IssueCategory.create!(project: project, name: "Category of #{identifier}")
end
closed = Project.create!(name: 'Closed', identifier: 'closed')
closed.close

field = IssueCustomField.create!(name: 'Colour', field_format: 'string', is_for_all: true, is_filter: true)
field.trackers = Tracker.all

# Moments that a request cannot choose: clocks are put back and forward in the zone of the server, years and months end.
['2024-03-10 06:59:59', '2024-03-10 07:00:00', '2024-11-03 05:30:00', '2024-11-03 06:30:00', '2023-12-31 23:59:59.999',
 '2024-02-29 12:00:00.5', '1999-12-31 23:59:59', '2025-06-30 10:00:00', '2030-01-01 00:00:00'].each_with_index do |text, index|
  issue = Issue.create!(project: Project.find(1), tracker: Tracker.first, author: people.first, subject: "At #{text}")
  moment = Time.find_zone('UTC').parse(text)
  issue.update_columns(created_on: moment, updated_on: moment + index, closed_on: index.even? ? moment : nil)
  issue.update_columns(description: nil, start_date: nil) if index.odd?
end

puts admin.api_key
